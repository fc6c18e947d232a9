// A hook set in the Blade Agent SDK 4. The configuration's dialect is `blade-callback@observed`.
import { HookboxError } from "../errors";
import type { Response } from "../response";
import type { HookSet } from "../runtime";
import { requireDialect } from "../tools";

/** The SDK's input for a hook. */
export interface BladeInput {
  event: string;
  [key: string]: unknown;
}

/** An output that the SDK obeys. It takes anything else for `continue`. */
export interface BladeOutput {
  action: "continue" | "skip" | "abort";
  modifiedInput?: unknown;
  modifiedOutput?: unknown;
  reason?: string;
}

/** An output of `canUseTool` that the SDK obeys. An unknown behavior runs the tool. */
export type BladePermission =
  | { behavior: "allow" }
  | { behavior: "deny"; message: string; interrupt?: boolean }
  | { behavior: "ask" };

export type BladeHook = (input: BladeInput) => Promise<BladeOutput>;
export type BladeCanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: { signal?: AbortSignal; [key: string]: unknown },
) => Promise<BladePermission>;

export interface BladeOptions {
  /** Milliseconds for one event. Default: 60,000, because the SDK waits for a callback without a limit. */
  timeout?: number;
  /** Receives errors of hookbox itself; `console.warn` by default. */
  log?: (line: string) => void;
}

/** The events that take a callback. The SDK has no callback for Stop, Subagent*, Notification and Compaction. */
export const EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "TaskCompleted",
  "SessionEnd",
] as const;

/**
 * `hooks` and `canUseTool` for `createSession`. Leave `canUseTool` out if the configuration has no such handler: the SDK would ask its
 * user about every call.
 *
 *     const { hooks, canUseTool } = bladeHooks(hookSet);
 *     const session = await createSession({ ...rest, hooks, canUseTool });
 */
export function bladeHooks(
  hooks: HookSet,
  options: BladeOptions = {},
): { hooks: Partial<Record<(typeof EVENTS)[number], BladeHook[]>>; canUseTool: BladeCanUseTool } {
  requireDialect(hooks, "blade-callback");
  const { timeout = 60_000, log = console.warn } = options;
  const ask = async (event: BladeInput, signal?: AbortSignal): Promise<Record<string, unknown>> => {
    const text = JSON.stringify(event, plain);
    const response = await hooks.decide(text, { timeout, bodyOnly: true, ...(signal ? { signal } : {}) });
    if (response.error) log(`hookbox: ${response.error.message}`);
    return answer(response);
  };
  const hook: BladeHook = async (input) => {
    const said = await ask(input);
    if (["continue", "skip", "abort"].includes(said["action"] as string)) return said as unknown as BladeOutput;
    throw new HookboxError("unsupported", `the answer has no action: ${JSON.stringify(said)}`);
  };
  const canUseTool: BladeCanUseTool = async (toolName, input, { signal, ...rest }) => {
    try {
      const said = await ask({ event: "canUseTool", toolName, input, options: rest }, signal);
      if (["allow", "deny", "ask"].includes(said["behavior"] as string)) return said as unknown as BladePermission;
      throw new HookboxError("unsupported", `the answer has no behavior: ${JSON.stringify(said)}`);
    } catch (error) {
      log(`hookbox: ${String(error)}`);
      return { behavior: "deny", message: error instanceof Error ? error.message : String(error) };
    }
  };
  const events = EVENTS.filter((event) => hooks.events.includes(event));
  return { hooks: Object.fromEntries(events.map((event) => [event, [hook]])), canUseTool };
}

/** An object that the SDK obeys. It blocks when a callback throws. */
function answer(response: Response): Record<string, unknown> {
  const said = response.output;
  if (typeof said === "object" && said !== null) return said as Record<string, unknown>;
  throw new HookboxError("unsupported", response.undelivered ?? response.error?.message ?? "the hooks gave no answer");
}

/** Errors lose everything in `JSON.stringify`; hooks read their message. */
function plain(_key: string, value: unknown): unknown {
  return value instanceof Error ? { ...value, name: value.name, message: value.message } : value;
}
