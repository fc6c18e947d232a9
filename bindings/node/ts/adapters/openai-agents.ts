// A hook set in the OpenAI Agents SDK: guardrails of its tools. The configuration's dialect is `claude`: a tool call is its `PreToolUse`,
// a result its `PostToolUse`. A guardrail can let a call go on, give the model a message in its place, or end the run. It cannot ask a
// user or rewrite the input of a call: both are denials.
import type {
  ToolGuardrailFunctionOutput,
  ToolInputGuardrailData,
  ToolInputGuardrailDefinition,
  ToolOutputGuardrailDefinition,
} from "@openai/agents" with { "resolution-mode": "import" };

import type { Response } from "../response";
import type { HookSet } from "../runtime";
import { requireDialect, toolEvent } from "../tools";

export interface GuardrailOptions {
  /** Milliseconds for one event. Default: the configuration's timeout. */
  timeout?: number;
}

/** Runs the hooks of `PreToolUse` before a tool: for `inputGuardrails` of a `tool`. */
export function inputGuardrail(hooks: HookSet, options: GuardrailOptions = {}): ToolInputGuardrailDefinition<any> {
  requireDialect(hooks, "claude");
  const run = async (data: ToolInputGuardrailData<any>) => {
    const response = await hooks.decide(event("PreToolUse", data), { ...options, bodyOnly: true });
    return guard(response, response.refusal);
  };
  return { type: "tool_input", name: "hookbox", run };
}

/** Runs the hooks of `PostToolUse` on a tool's result: for `outputGuardrails` of a `tool`. */
export function outputGuardrail(hooks: HookSet, options: GuardrailOptions = {}): ToolOutputGuardrailDefinition<any> {
  requireDialect(hooks, "claude");
  return {
    type: "tool_output",
    name: "hookbox",
    run: async (data) => {
      const about = { ...event("PostToolUse", data), tool_response: data.output ?? null };
      const response = await hooks.decide(about, { ...options, bodyOnly: true });
      return guard(response, response.replacement ? text(response.replacement.value) : response.refusal);
    },
  };
}

function event(name: string, { toolCall }: ToolInputGuardrailData<any>): object {
  let input: unknown;
  try {
    input = JSON.parse(toolCall.arguments || "{}");
  } catch {
    input = toolCall.arguments;
  }
  return toolEvent(name, toolCall.name, input, toolCall.callId);
}

/** Lets the call go on, or gives the model `message` in its place. */
function guard(response: Response, message: string | null): ToolGuardrailFunctionOutput {
  const outputInfo = response.report;
  if (response.outcome === "stop") return { outputInfo, behavior: { type: "throwException" } };
  if (message === null) return { outputInfo, behavior: { type: "allow" } };
  return { outputInfo, behavior: { type: "rejectContent", message } };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
