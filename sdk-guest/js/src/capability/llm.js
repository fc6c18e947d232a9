import { complete as ask } from "#host/llm";

import { LlmError, call } from "../errors.js";

export function complete(prompt) {
  const { user, system = null, model = null, maxTokens = null } = typeof prompt === "string" ? { user: prompt } : prompt;
  return call("llm", LlmError, () => ask({ user, system, model, maxTokens }));
}
