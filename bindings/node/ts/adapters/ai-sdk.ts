// A hook set around the tools of the Vercel AI SDK. The configuration's dialect is `claude`: a tool call is its `PreToolUse`, a result its
// `PostToolUse`. The tool runs with a rewritten input, and the model reads a rewritten result. A denial is an error of the tool, which
// the model reads. An `ask` and a `continue: false` are denials.
import type { ToolSet } from "ai" with { "resolution-mode": "import" };

import { HookboxError } from "../errors";
import type { Response } from "../response";
import type { HookSet } from "../runtime";
import { requireDialect, toolEvent, warnOfOthers } from "../tools";

export interface GuardOptions {
  /** Milliseconds for one event. Default: the configuration's timeout. */
  timeout?: number;
  /** Receives warnings. Default: `console.warn`. */
  log?: (line: string) => void;
}

/**
 * The same tools, behind the hooks. A tool without `execute`, which runs elsewhere, stays as it is.
 *
 *     generateText({ model, prompt, tools: guardTools(hooks, tools) })
 */
export function guardTools<T extends ToolSet>(hooks: HookSet, tools: T, options: GuardOptions = {}): T {
  requireDialect(hooks, "claude");
  warnOfOthers(hooks, ["PreToolUse", "PostToolUse"], options.log ?? console.warn);
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
  const decide = (event: string, input: unknown, call: CallOptions, fields: object = {}): Promise<Response> => {
    const signal = call.abortSignal ? { signal: call.abortSignal } : {};
    const timeout = options.timeout === undefined ? {} : { timeout: options.timeout };
    const about = { ...toolEvent(event, name, input, call.toolCallId), ...fields };
    return hooks.decide(about, { ...timeout, ...signal, bodyOnly: true });
  };
  return {
    ...tool,
    async execute(input: unknown, call: CallOptions) {
      const used = obeyed(await decide("PreToolUse", input, call), input);
      const result = await last(execute(used, call));
      return obeyed(await decide("PostToolUse", used, call, { tool_response: result ?? null }), result);
    },
  } as ToolSet[string];
}

/** The value to go on with: what the hooks put in place of `value`, or else itself. Throws if they refuse it. */
function obeyed(response: Response, value: unknown): unknown {
  if (response.replacement) return response.replacement.value;
  if (response.refusal !== null) throw new HookboxError("unsupported", response.refusal);
  return value;
}

/** A tool may yield preliminary results. Its last one counts. */
async function last(result: unknown): Promise<unknown> {
  const awaited = await result;
  if (typeof awaited !== "object" || awaited === null || !(Symbol.asyncIterator in awaited)) return awaited;
  let value: unknown;
  for await (value of awaited as AsyncIterable<unknown>);
  return value;
}
