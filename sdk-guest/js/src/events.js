// Written by `just bindings` from the contract. Do not edit.

import { event } from "./component.js";

export const afterLlm = /* @__PURE__ */ event("onAfterLlm", [["response"]], { fields: { updatedResponse: "json" } });

export const agentEvent = /* @__PURE__ */ event("onAgentEvent", [["payload"]], "nothing");

export const beforeLlm = /* @__PURE__ */ event("onBeforeLlm", [["messages", "tools", "options"]], { fields: { updatedRequest: "json" } });

export const canUseTool = /* @__PURE__ */ event("onCanUseTool", [["input", "originalInput"], []], { decision: { allow: "reason", ask: "reason", deny: "denial" }, fields: { updatedInput: "json" } });

export const notification = /* @__PURE__ */ event("onNotification", [[]], "effects");

export const otherEvent = /* @__PURE__ */ event("onOtherEvent", ["json"], "json");

export const permissionRequest = /* @__PURE__ */ event("onPermissionRequest", [["input", "originalInput"], ["suggestions"]], { decision: { allow: "reason", ask: "reason", deny: "denial" }, fields: { updatedInput: "json", updatedPermissions: "json" } });

export const postToolUseFailure = /* @__PURE__ */ event("onPostToolUseFailure", [["input", "originalInput"], []], "effects");

export const postToolUse = /* @__PURE__ */ event("onPostToolUse", [["input", "originalInput"], ["value"]], { decision: { block: "reason" }, fields: { updatedOutput: "json" } });

export const preCompact = /* @__PURE__ */ event("onPreCompact", [[]], { decision: { block: "reason" }, fields: {} });

export const preToolUse = /* @__PURE__ */ event("onPreToolUse", [["input", "originalInput"]], { decision: { allow: "reason", ask: "reason", deny: "reason", skip: "reason", respond: "response" }, fields: { updatedInput: "json", updatedTool: "text" } });

export const sessionEnd = /* @__PURE__ */ event("onSessionEnd", [[]], "effects");

export const sessionStart = /* @__PURE__ */ event("onSessionStart", [[]], { fields: { env: "pairs" } });

export const stop = /* @__PURE__ */ event("onStop", [[]], { decision: { block: "reason" }, fields: {} });

export const subagentStart = /* @__PURE__ */ event("onSubagentStart", [[]], "effects");

export const subagentStop = /* @__PURE__ */ event("onSubagentStop", [[]], { decision: { block: "reason" }, fields: {} });

export const taskCompleted = /* @__PURE__ */ event("onTaskCompleted", [[]], { decision: { block: "reason" }, fields: {} });

export const userPromptSubmit = /* @__PURE__ */ event("onUserPromptSubmit", [[]], { decision: { block: "reason" }, fields: { updatedPrompt: "text" } });
