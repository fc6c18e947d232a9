/**
 * hookbox behind the Blade Agent SDK 4: copy this file into your program, and give `hooks` and `canUseTool` to
 * `createSession`.
 *
 *     const box = hookbox({ config: "hooks.json" });
 *     const session = await createSession({ ...rest, hooks: box.hooks, canUseTool: box.canUseTool });
 *
 * Every event starts one `hookbox run --dialect blade-callback@observed`. The SDK waits for a callback without a limit,
 * so there is a timeout here. Whatever keeps hookbox from answering blocks, unless `failClosed` is false.
 */
import { spawn } from "node:child_process";

/** What the SDK gives a hook. */
export interface HookInput {
  event: string;
  [key: string]: unknown;
}

/** What the SDK obeys. Anything else it takes for `continue`. */
export interface HookOutput {
  action: "continue" | "skip" | "abort";
  modifiedInput?: unknown;
  modifiedOutput?: unknown;
  reason?: string;
}

/** What the SDK obeys from `canUseTool`. An unknown behavior runs the tool. */
export type PermissionResult =
  | { behavior: "allow" }
  | { behavior: "deny"; message: string; interrupt?: boolean }
  | { behavior: "ask" };

export type HookCallback = (input: HookInput) => Promise<HookOutput>;
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: { signal?: AbortSignal; [key: string]: unknown },
) => Promise<PermissionResult>;

export interface Options {
  /** The configuration file; found as `hookbox run` finds it when left out. */
  config?: string;
  /** How hookbox is started: `["hookbox"]`, an absolute path, or a wrapper. */
  command?: string[];
  /** Milliseconds for one event, 60,000 when left out: more than all hooks of one event may take. */
  timeout?: number;
  /** Whether a failure of hookbox itself blocks: true when left out. */
  failClosed?: boolean;
  /** Receives every failure and every diagnostic of hookbox. Default: `console.error`. */
  log?: (line: string) => void;
}

/** The events that take a callback. Stop, Subagent*, Notification and Compaction take none. */
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

export function hookbox(options: Options = {}): {
  hooks: Record<(typeof EVENTS)[number], HookCallback[]>;
  canUseTool: CanUseTool;
} {
  const closed = options.failClosed ?? true;
  const log = options.log ?? ((line: string) => console.error(line));

  const hook: HookCallback = async (input) => {
    try {
      return output(await ask(options, log, input));
    } catch (error) {
      log(`hookbox: ${message(error)}`);
      // The SDK blocks when a callback throws.
      if (closed || error instanceof Blocked) throw error;
      return { action: "continue" };
    }
  };

  const canUseTool: CanUseTool = async (toolName, input, { signal, ...rest }) => {
    try {
      return permission(await ask(options, log, { event: "canUseTool", toolName, input, options: rest }, signal));
    } catch (error) {
      log(`hookbox: ${message(error)}`);
      if (closed || error instanceof Blocked) return { behavior: "deny", message: message(error) };
      return { behavior: "ask" };
    }
  };

  const hooks = Object.fromEntries(EVENTS.map((event) => [event, [hook]]));
  return { hooks: hooks as Record<(typeof EVENTS)[number], HookCallback[]>, canUseTool };
}

/** hookbox failed, and blocks because of `failClosed`. */
class Blocked extends Error {}

/** One event through `hookbox run`: the object that it answers. */
async function ask(
  { command = ["hookbox"], config, timeout = 60_000 }: Options,
  log: (line: string) => void,
  input: HookInput,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  const [program = "hookbox", ...before] = command;
  const args = [...before, "run", "--dialect", "blade-callback@observed", ...(config ? ["--config", config] : [])];
  const event = JSON.stringify(input, plain);
  const limit = AbortSignal.timeout(timeout);
  const { code, stdout, stderr } = await run(program, args, event, signal ? AbortSignal.any([signal, limit]) : limit);
  stderr.split("\n").filter(Boolean).forEach(log);
  // 2: hookbox failed, and its configuration says that this blocks. Its answer, if any, says how.
  if (code !== 0 && code !== 2) throw new Error(`ended with ${code}: ${stderr.trim()}`);
  if (code === 2 && stdout.trim() === "") throw new Blocked(stderr.trim() || "hookbox failed");
  const answer: unknown = JSON.parse(stdout);
  if (typeof answer !== "object" || answer === null) throw new Error(`answered ${stdout.trim()}`);
  return answer as Record<string, unknown>;
}

function run(program: string, args: string[], stdin: string, signal: AbortSignal) {
  return new Promise<{ code: number | string; stdout: string; stderr: string }>((resolve, reject) => {
    const child = spawn(program, args, { signal, killSignal: "SIGKILL" });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    // Not started, or stopped by the signal, whose reason says why. What it started may hold the pipes open.
    child.on("error", (error) => {
      child.stdout.destroy();
      child.stderr.destroy();
      reject(signal.aborted ? signal.reason : error);
    });
    child.on("close", (code, killed) => resolve({ code: code ?? killed ?? "no code", stdout, stderr }));
    // It may end without having read all of it; then its exit code tells more than the broken pipe.
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
  });
}

/** Errors lose everything in `JSON.stringify`; hooks read their message. */
function plain(_key: string, value: unknown): unknown {
  return value instanceof Error ? { ...value, name: value.name, message: value.message } : value;
}

function output(answer: Record<string, unknown>): HookOutput {
  if (!["continue", "skip", "abort"].includes(answer["action"] as string)) {
    throw new Error(`the answer has no action: ${JSON.stringify(answer)}`);
  }
  return answer as unknown as HookOutput;
}

function permission(answer: Record<string, unknown>): PermissionResult {
  if (!["allow", "deny", "ask"].includes(answer["behavior"] as string)) {
    throw new Error(`the answer has no behavior: ${JSON.stringify(answer)}`);
  }
  return answer as unknown as PermissionResult;
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
