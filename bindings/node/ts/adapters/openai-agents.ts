// A hook set in the OpenAI Agents SDK: guardrails of its tools. The configuration's dialect is `claude`: a tool call is its `PreToolUse`,
// a result its `PostToolUse`. A guardrail can let a call go on, give the model a message in its place, or end the run. It can neither ask
// a user nor rewrite, so that both are denials here.
import type {
  ToolGuardrailFunctionOutput,
  ToolInputGuardrailData,
  ToolInputGuardrailDefinition,
  ToolOutputGuardrailDefinition,
} from "@openai/agents" with { "resolution-mode": "import" };

import type { HookSet } from "../runtime";
import { refusal } from "../refusal";

export interface GuardrailOptions {
  /** Milliseconds for one call. Default: as in the configuration. */
  timeout?: number;
}

/** Asks the hooks of `PreToolUse` before a tool runs: for `inputGuardrails` of a `tool`. */
export function inputGuardrail(hooks: HookSet, options: GuardrailOptions = {}): ToolInputGuardrailDefinition<any> {
  return { type: "tool_input", name: "hookbox", run: (data) => decide(hooks, event("PreToolUse", data), options) };
}

/** Asks the hooks of `PostToolUse` about a tool's result: for `outputGuardrails` of a `tool`. */
export function outputGuardrail(hooks: HookSet, options: GuardrailOptions = {}): ToolOutputGuardrailDefinition<any> {
  return {
    type: "tool_output",
    name: "hookbox",
    run: (data) => decide(hooks, { ...event("PostToolUse", data), tool_response: data.output ?? null }, options),
  };
}

function event(name: string, { toolCall }: ToolInputGuardrailData<any>): object {
  let input: unknown;
  try {
    input = JSON.parse(toolCall.arguments || "{}");
  } catch {
    input = undefined;
  }
  // Hooks read an object; anything else reaches them as text.
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const toolInput = isObject ? input : { arguments: toolCall.arguments };
  return { hook_event_name: name, tool_name: toolCall.name, tool_input: toolInput, tool_use_id: toolCall.callId };
}

async function decide(hooks: HookSet, event: object, options: GuardrailOptions): Promise<ToolGuardrailFunctionOutput> {
  const response = await hooks.decide(event, { ...options, bodyOnly: true });
  const outputInfo = response.report;
  if (response.outcome === "stop") return { outputInfo, behavior: { type: "throwException" } };
  if (!response.restricts) return { outputInfo, behavior: { type: "allow" } };
  return { outputInfo, behavior: { type: "rejectContent", message: refusal(response) } };
}
