// Type checks: events accept only the answers that they support.
import {
  type OnPreToolUse, type OnStop, type OnOtherEvent, type OnSessionStart, type OnPermissionRequest, type OnNotification,
  allow, block, config, deny, endTurn, pass, respond, state,
} from "@hookbox/guest";

export const guard: OnPreToolUse = (call) =>
  /rm\s+-rf/.test(call.input?.command ?? "") ? deny("no") : { ...allow(), updatedInput: { command: "ls" }, context: "more" };
export const silent: OnPreToolUse = () => {};
export const later: OnPreToolUse = async () => respond({ forLlm: "instead" });
export const stop: OnStop = (event) => (event.stopHookActive ? pass() : { ...block("go on"), ...endTurn("enough") });
export const start: OnSessionStart = () => ({ env: { A: "1" } });
export const permission: OnPermissionRequest = () => ({ ...deny("never"), interrupt: true });
export const other: OnOtherEvent = (_, context) => ({ systemMessage: context.eventName });
export const note: OnNotification = () => pass();
export const max: number = config.get({ max: 5 }).max + state.increment("n") + Number(state.delete("n"));

// @ts-expect-error a stop is not denied
export const denied: OnStop = () => deny("no");
// @ts-expect-error a tool is not blocked
export const blocked: OnPreToolUse = () => block("no");
// @ts-expect-error a text is not an output
export const text: OnPreToolUse = () => "deny";
// @ts-expect-error a misspelt decision
export const misspelt: OnPreToolUse = () => ({ decision: "dney" });
