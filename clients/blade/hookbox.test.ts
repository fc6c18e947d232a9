/**
 * The shim behind a stand-in of the SDK's callback contract (docs/spec/blade-observed.md, "What the programs make of a
 * callback's output"), with the real `hookbox`, named by the environment variable HOOKBOX.
 */
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type HookCallback, type HookInput, type Options, EVENTS, hookbox } from "./hookbox.js";

const HOOKBOX = process.env["HOOKBOX"];
assert.ok(HOOKBOX, "set HOOKBOX to the path of the hookbox command");

type Outcome = { result: "goes on"; input?: unknown; output?: unknown } | { result: "refused" | "throws"; reason: string };

/** What SDK 4.2.0 does with the callbacks of one event. */
async function sdk(callbacks: HookCallback[], input: HookInput): Promise<Outcome> {
  let outputs;
  try {
    outputs = await Promise.all(callbacks.map((callback) => callback(input)));
  } catch (error) {
    return { result: "throws", reason: (error as Error).message };
  }
  const refuses = ["PreToolUse", "PermissionRequest"].includes(input.event);
  let [changed, output]: unknown[] = [input["toolInput"], input["toolOutput"]];
  for (const { action, reason = "", modifiedInput, modifiedOutput } of outputs) {
    if (action === "abort" || (action === "skip" && refuses)) {
      return { result: refuses ? "refused" : "throws", reason };
    }
    if (input.event === "UserPromptSubmit" && modifiedInput !== undefined) {
      const prompt = (modifiedInput as { userPrompt?: unknown }).userPrompt ?? modifiedInput;
      if (typeof prompt === "string") changed = prompt;
    } else if (modifiedInput !== undefined) {
      changed = { ...(changed as object), ...(modifiedInput as object) };
    }
    if (modifiedOutput !== undefined) output = modifiedOutput;
  }
  return { result: "goes on", input: changed, output };
}

/** A configuration with one command hook per event, each a shell command. */
function config(hooks: Record<string, string>, more: object = {}): string {
  const path = join(mkdtempSync(join(tmpdir(), "hookbox-blade-")), "hooks.json");
  const entries = Object.entries(hooks).map(([event, command]) => [event, [{ type: "command", command }]]);
  writeFileSync(path, JSON.stringify({ dialect: "blade-callback@observed", hooks: Object.fromEntries(entries), ...more }));
  return path;
}

const quiet = { log: () => {} };
const real = (path: string, more: Options = {}) => hookbox({ command: [HOOKBOX], config: path, ...quiet, ...more });
const says = (answer: object) => `echo '${JSON.stringify(answer)}'`;
/** Something else in hookbox's place. */
const instead = (script: string, more: Options = {}) => hookbox({ command: ["sh", "-c", script, "sh"], ...quiet, ...more });

const call = { event: "PreToolUse", sessionId: "s1", toolName: "Bash", toolInput: { command: "ls", timeout: 5 } };

test("every event that takes a callback has one, and continues without an answer", async () => {
  const { hooks } = real(config({}));
  assert.deepEqual(Object.keys(hooks), [...EVENTS]);
  for (const event of EVENTS) {
    assert.deepEqual(await hooks[event][0]?.({ event, sessionId: "s1" }), { action: "continue" }, event);
  }
});

test("a denial refuses the call, and on other events throws", async () => {
  const path = config({ PreToolUse: "echo no >&2; exit 2", UserPromptSubmit: "echo no >&2; exit 2" });
  const { hooks } = real(path);
  assert.deepEqual(await sdk(hooks.PreToolUse, call), { result: "refused", reason: "no" });
  const prompt = { event: "UserPromptSubmit", sessionId: "s1", userPrompt: "do it" };
  assert.deepEqual(await sdk(hooks.UserPromptSubmit, prompt), { result: "throws", reason: "no" });
});

test("rewrites reach the SDK in the form that it obeys", async () => {
  const { hooks } = real(
    config({
      PreToolUse: says({ action: "continue", modifiedInput: { command: "pwd", timeout: 5 } }),
      UserPromptSubmit: says({ action: "continue", modifiedInput: "redacted" }),
      PostToolUseFailure: says({ action: "continue", modifiedOutput: "redacted" }),
    }),
  );
  const ran = await sdk(hooks.PreToolUse, call);
  assert.deepEqual(ran, { result: "goes on", input: { command: "pwd", timeout: 5 }, output: undefined });
  const prompt = { event: "UserPromptSubmit", sessionId: "s1", userPrompt: "a secret" };
  assert.deepEqual((await sdk(hooks.UserPromptSubmit, prompt) as { input: unknown }).input, "redacted");
  const failed = { ...call, event: "PostToolUseFailure", toolOutput: "a secret", error: new Error("a secret") };
  assert.deepEqual((await sdk(hooks.PostToolUseFailure, failed) as { output: unknown }).output, "redacted");
});

test("an error reaches hooks with its message", async () => {
  const read = `node -pe 'JSON.stringify({action: "abort", reason: JSON.parse(fs.readFileSync(0)).error.message})'`;
  const { hooks } = real(config({ PostToolUseFailure: read }));
  const failed = { ...call, event: "PostToolUseFailure", error: new TypeError("exit code 3") };
  assert.deepEqual(await sdk(hooks.PostToolUseFailure, failed), { result: "throws", reason: "exit code 3" });
});

test("canUseTool", async () => {
  const decides = (answer: object) =>
    real(config({}, { canUseTool: { type: "command", command: says(answer) } })).canUseTool("Bash", { command: "ls" }, {
      toolKind: "execute",
      affectedPaths: [],
      signal: new AbortController().signal,
    });
  assert.deepEqual(await decides({}), { behavior: "ask" });
  assert.deepEqual(await decides({ behavior: "allow" }), { behavior: "allow" });
  const denied = { behavior: "deny", message: "no", interrupt: true };
  assert.deepEqual(await decides(denied), denied);
  // The SDK would run the original call.
  assert.equal((await decides({ behavior: "allow", updatedInput: { command: "pwd" } })).behavior, "deny");
});

test("whatever keeps hookbox from answering blocks", async () => {
  for (const script of ["exit 70", "echo nonsense", "echo null", `echo '{"action":"maybe"}'`, "kill -9 $$", "true"]) {
    const { hooks, canUseTool } = instead(script);
    assert.equal((await sdk(hooks.PreToolUse, call)).result, "throws", script);
    assert.equal((await canUseTool("Bash", {}, {})).behavior, "deny", script);
  }
  const absent = hookbox({ command: ["./no-such-hookbox"], ...quiet });
  assert.equal((await sdk(absent.hooks.PreToolUse, call)).result, "throws");
  const slow = instead("sleep 60", { timeout: 50 });
  assert.equal((await sdk(slow.hooks.PreToolUse, call)).result, "throws");
});

test("with failClosed false it goes on, unless hookbox itself fails closed", async () => {
  const open = instead("exit 70", { failClosed: false });
  assert.equal((await sdk(open.hooks.PreToolUse, call)).result, "goes on");
  assert.deepEqual(await open.canUseTool("Bash", {}, {}), { behavior: "ask" });
  const told = instead("echo broken >&2; exit 2", { failClosed: false });
  assert.deepEqual(await sdk(told.hooks.PreToolUse, call), { result: "throws", reason: "broken" });
  assert.deepEqual(await told.canUseTool("Bash", {}, {}), { behavior: "deny", message: "broken" });
  // The real one, with a configuration that cannot be used.
  const path = config({ PreToolUse: "true" }, { failClosed: true, limits: { fuel: "none" } });
  const { hooks } = real(path, { failClosed: false });
  assert.equal((await sdk(hooks.PreToolUse, call)).result, "refused");
});

test("an aborted question is a denial", async () => {
  const signal = AbortSignal.abort(new Error("the user left"));
  const { canUseTool } = instead("sleep 60");
  assert.deepEqual(await canUseTool("Bash", {}, { signal }), { behavior: "deny", message: "the user left" });
});

test("an event larger than the pipe reaches a hookbox that does not read it", async () => {
  const large = { ...call, toolInput: { command: "x".repeat(1 << 20) } };
  const { hooks } = instead(`echo '{"action":"skip","reason":"unread"}'`);
  assert.deepEqual(await sdk(hooks.PreToolUse, large), { result: "refused", reason: "unread" });
});
