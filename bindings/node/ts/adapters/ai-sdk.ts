// A hook set around the tools of the Vercel AI SDK. The configuration's dialect is `claude`: a tool call is its `PreToolUse`, a result its
// `PostToolUse`. A rewritten input is what the tool runs with; a denial is the tool's error, which the model reads. An `ask` is a denial.
import type { ToolSet } from "ai" with { "resolution-mode": "import" };

import { HookboxError } from "../errors";
import type { Response } from "../response";
import type { HookSet } from "../runtime";
import { refusal } from "../refusal";

export interface GuardOptions {
  /** Milliseconds for one call of hooks. Default: as in the configuration. */
  timeout?: number;
}

/**
 * The same tools, behind the hooks. Tools without `execute`, which others run, stay as they are.
 *
 *     generateText({ model, prompt, tools: guardTools(hooks, tools) })
 */
export function guardTools<T extends ToolSet>(hooks: HookSet, tools: T, options: GuardOptions = {}): T {
  const guarded = Object.entries(tools).map(([name, tool]) => [name, guard(hooks, name, tool, options)]);
  return Object.fromEntries(guarded) as T;
}

interface CallOptions {
  toolCallId?: string;
  abortSignal?: AbortSignal;
}

function guard(hooks: HookSet, name: string, tool: ToolSet[string], options: GuardOptions): ToolSet[string] {
  const execute = tool.execute as ((input: unknown, call: CallOptions) => unknown) | undefined;
  if (!execute) return tool;
  const ask = (event: string, fields: object, call: CallOptions): Promise<Response> => {
    const signal = call.abortSignal ? { signal: call.abortSignal } : {};
    const about = { hook_event_name: event, tool_name: name, tool_use_id: call.toolCallId, ...fields };
    return hooks.decide(about, { ...options, ...signal, bodyOnly: true });
  };
  return {
    ...tool,
    async execute(input: unknown, call: CallOptions) {
      const before = await ask("PreToolUse", { tool_input: input }, call);
      const changed = rewritten(before);
      if (before.restricts && changed === undefined) throw new HookboxError("unsupported", refusal(before));
      const output = await last(execute(changed ?? input, call));
      const fields = { tool_input: changed ?? input, tool_response: output ?? null };
      const after = await ask("PostToolUse", fields, call);
      if (after.restricts) throw new HookboxError("unsupported", refusal(after));
      return output;
    },
  } as ToolSet[string];
}

/** The input that the hooks put in place of the call's, where they let it go on with that. */
function rewritten(response: Response): unknown {
  if (response.blocks || response.outcome === "ask") return undefined;
  const output = response.output as { hookSpecificOutput?: { updatedInput?: unknown } } | null;
  return output?.hookSpecificOutput?.updatedInput;
}

/** A tool may yield preliminary results; its last one counts. */
async function last(result: unknown): Promise<unknown> {
  const awaited = await result;
  if (typeof awaited !== "object" || awaited === null || !(Symbol.asyncIterator in awaited)) return awaited;
  let value: unknown;
  for await (value of awaited as AsyncIterable<unknown>);
  return value;
}
