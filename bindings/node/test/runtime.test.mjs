// What the package does, and what it does when things go wrong. GUARD is the command guard, compiled.
import assert from "node:assert/strict";
import { fork, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

import { HookboxError, HookSet, Response, Runtime } from "@hookbox/runtime";

const EVENT = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "rm -rf /" } };
const HARMLESS = { ...EVENT, tool_input: { command: "ls" } };

const folder = mkdtempSync(join(tmpdir(), "hookbox-"));
after(() => rmSync(folder, { recursive: true }));
copyFileSync(/** @type {string} */ (process.env["GUARD"]), join(folder, "guard.wasm"));
const guard = [{ matcher: "Bash", hooks: [{ type: "wasm", component: "guard.wasm" }] }];
const file = join(folder, "hooks.json");
writeFileSync(file, JSON.stringify({ failClosed: true, hooks: { PreToolUse: guard } }));
const runtime = await Runtime.open();

/** @type {(script: string) => { [key: string]: unknown }} */
const command = (script) => ({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command: script }] }] } });

/** @type {(code: string) => (error: unknown) => boolean} */
const coded = (code) => (error) => error instanceof HookboxError && error.code === code;

/** Runs a program in another process. @type {(program: string, ...flags: string[]) => { status: number | null, stderr: string }} */
function run(program, ...flags) {
  // Beside this file, where the package is found.
  const options = { cwd: import.meta.dirname, timeout: 60_000, encoding: /** @type {const} */ ("utf8") };
  return spawnSync(process.execPath, ["--input-type=module", ...flags, "-e", program], options);
}

test("a component denies a tool call", async () => {
  const hooks = await runtime.load(file);
  for (const event of [EVENT, JSON.stringify(EVENT), Buffer.from(JSON.stringify(EVENT))]) {
    const response = await hooks.decide(event);
    assert(response instanceof Response && response.blocks && response.restricts);
    assert.equal(/** @type {any} */ (response.output).hookSpecificOutput.permissionDecision, "deny");
    assert.deepEqual([response.exitCode, response.error, response.stderr], [0, null, null]);
    assert(/** @type {number} */ (response.report?.hooks[0]?.fuel) > 0);
    const { outcome, report } = JSON.parse(JSON.stringify(response));
    assert.deepEqual([outcome, report], ["deny", response.report]);
  }
  assert.equal((await hooks.decide(HARMLESS)).blocks, false);
  assert.equal((await (await runtime.load(pathToFileURL(file))).decide(EVENT)).blocks, true);
  assert.equal((await hooks.explain(EVENT)).verdict, "deny");
  assert.deepEqual([hooks.dialect, hooks.tenant, hooks.events, await hooks.check()], ["claude", "default", ["PreToolUse"], []]);
});

test("a call that waits", async () => {
  const hooks = await runtime.load(file);
  assert.equal(hooks.decideSync(EVENT).outcome, "deny");
  assert.equal(hooks.decideSync(HARMLESS).outcome, "nothing");
});

test("an event that cannot be read is settled", async () => {
  const hooks = await runtime.load(file);
  for (const event of ["", "{", "[]", new Uint8Array([0xff]), "\ud800"]) {
    const response = await hooks.decide(event);
    assert.deepEqual([response.blocks, response.error?.kind], [true, "event"]);
  }
  await assert.rejects(hooks.explain("{"), coded("event"));
});

test("a broken configuration does not load", async () => {
  const broken = { hooks: { PreToolUse: [{ mathcer: "Bash", hooks: [{ type: "wasm", component: "no.wasm" }] }] } };
  const error = await runtime.load(broken, { folder }).catch((/** @type {unknown} */ error) => error);
  assert(error instanceof HookboxError && error instanceof Error && error.code === "config");
  assert(error.diagnostics.some((found) => found.help === "did you mean `matcher`?"));
  assert.deepEqual(await runtime.check(broken, { folder }), error.diagnostics);
  const missing = { ...broken, failClosed: true, hooks: { PreToolUse: [{ hooks: [{ type: "wasm", component: "no.wasm" }] }] } };
  await assert.rejects(runtime.load(missing, { folder }), coded("hook"));
  assert((await (await runtime.load(missing, { folder, lazy: true })).decide(EVENT)).blocks);
});

test("a ceiling bounds a tenant, and invalid options are errors", async () => {
  await runtime.load({}, { tenant: "acme", ceiling: { limits: { fuel: 1000 } } });
  const beyond = runtime.load(command("true"), { tenant: "acme", ceiling: { authority: "gate" } });
  await assert.rejects(beyond, /the ceiling of tenant `acme` is wasm/);
  await assert.rejects(Runtime.open({ maxInstances: 0 }), coded("options"));
  await assert.rejects(runtime.load({}, { handlers: ["command"] }), coded("options"));
  await assert.rejects(runtime.load({}, { hooks: [{ event: "PreTolUse", run() {} }] }), coded("options"));
  const hooks = await runtime.load({});
  await assert.rejects(hooks.decide(EVENT, { timeout: -1 }), coded("options"));
  assert.throws(() => hooks.decideSync(EVENT, { timeout: NaN }), coded("options"));
});

test("a function decides beside components, and one that fails is a failed hook", async () => {
  /** @type {(event: any) => Promise<object>} */
  const own = async (event) => ({ decision: "block", reason: event.tool_input.command });
  const both = await runtime.load(file, { hooks: [{ event: "PreToolUse", matcher: "Bash", run: own }] });
  const response = await both.decide(HARMLESS);
  assert.deepEqual([response.outcome, response.undelivered], ["deny", "ls"]);
  assert.deepEqual(response.report?.hooks.map((hook) => hook.hook), ["guard.wasm", "own"]);
  assert.throws(() => both.decideSync(EVENT), coded("unsupported"));

  const cyclic = /** @type {any} */ ({});
  cyclic.cyclic = cyclic;
  /** @type {[any, string][]} */
  const failing = [
    [() => { throw new Error("boom"); }, "guest-error"],
    [async () => Promise.reject(undefined), "guest-error"],
    [() => { throw Object.create(null); }, "guest-error"],
    [() => new Promise(() => {}), "timeout"],
    [() => 1, "bad-output"],
    [() => [], "bad-output"],
    [() => Symbol("no JSON"), "guest-error"],
    [() => cyclic, "guest-error"],
    [() => ({ decision: 1 }), "bad-output"],
  ];
  for (const [run, cause] of failing) {
    const hooks = await runtime.load({}, { hooks: [{ event: "PreToolUse", run, onFailure: "block", timeout: 100 }] });
    const response = await hooks.decide(EVENT);
    assert.deepEqual([response.blocks, response.report?.hooks[0]?.cause], [true, cause], String(run));
  }
  const silent = await runtime.load({}, { hooks: [{ event: "PreToolUse", run() {} }] });
  assert.equal((await silent.decide(EVENT)).outcome, "nothing");
});

test("a function learns that nobody waits any more", async () => {
  /** @type {(value: unknown) => void} */
  let aborted = () => {};
  const told = new Promise((resolve) => (aborted = resolve));
  /** @type {import("@hookbox/runtime").Hook} */
  const never = {
    event: "PreToolUse",
    timeout: 50,
    onTimeout: "block",
    run: (_, { signal }) => new Promise(() => signal.addEventListener("abort", aborted)),
  };
  assert((await (await runtime.load({}, { hooks: [never] })).decide(EVENT)).blocks);
  // The package keeps no process alive for it.
  const alive = setInterval(() => {}, 1000);
  await told;
  clearInterval(alive);
});

test("a signal ends a call", async () => {
  const mark = join(folder, "mark");
  const hooks = await runtime.load(command(`sleep 1; touch ${mark}`));
  await assert.rejects(hooks.decide(EVENT, { signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
  await assert.rejects(hooks.decide(EVENT, { signal: AbortSignal.abort(new Error("before")) }), /before/);
  await sleep(1500);
  assert(!existsSync(mark));
});

test("a set is closed while it decides", async () => {
  const own = await Runtime.open({ threads: 1 });
  const hooks = await own.load(command("sleep 0.3; echo not here >&2; exit 2"));
  const deciding = hooks.decide(EVENT);
  await sleep(50);
  await hooks[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
  assert((await deciding).blocks);
  await assert.rejects(hooks.decide(EVENT), coded("closed"));
  await assert.rejects(own.load({}), coded("closed"));
});

test("two runtimes decide at the same time, and one is closed", async () => {
  const other = await Runtime.open({ threads: 1 });
  const sets = await Promise.all([runtime.load(file), other.load(file)]);
  const deciding = Array.from({ length: 100 }, (_, number) => sets[number % 2]?.decide(EVENT));
  assert((await Promise.all(deciding)).every((response) => response?.blocks));
  await other.close();
  assert((await sets[0].decide(EVENT)).blocks);
  await assert.rejects(sets[1].decide(EVENT), coded("closed"));
});

test("other child processes keep their exit codes", async () => {
  const hooks = await runtime.load(command("exit 2"));
  /** @type {(number: number) => Promise<number | null>} */
  const child = (number) => new Promise((resolve) => spawn("sh", ["-c", `sleep 0.1; exit ${number}`]).once("exit", resolve));
  const numbers = Array.from({ length: 10 }, (_, number) => number + 3);
  const [codes, responses] = await Promise.all([Promise.all(numbers.map(child)), Promise.all(numbers.map(() => hooks.decide(EVENT)))]);
  assert.deepEqual(codes, numbers);
  assert(responses.every((response) => response.blocks));
});

test("thousands at once", async () => {
  const hooks = await runtime.load(file);
  const responses = await Promise.all(Array.from({ length: 2000 }, () => hooks.decide(EVENT)));
  assert(responses.every((response) => response.blocks));
});

test("timers and sockets have their turn between decisions", async () => {
  const [hooks, many, inOneTurn] = [await runtime.load({}), 3200, 32];
  let [turns, ended] = [0, false];
  const turn = () => {
    turns++;
    if (!ended) setImmediate(turn);
  };
  turn();
  await Promise.all(Array.from({ length: many }, () => hooks.decide(EVENT)));
  ended = true;
  assert(turns >= many / inOneTurn, `${turns} turns`);
});

test("the classes of require and import are the same", () => {
  const required = createRequire(import.meta.url)("@hookbox/runtime");
  assert.deepEqual([required.Runtime, required.HookSet, required.HookboxError], [Runtime, HookSet, HookboxError]);
});

const program = (/** @type {string} */ body) => `
  import { Runtime } from "@hookbox/runtime";
  const runtime = await Runtime.open();
  const event = ${JSON.stringify(EVENT)};
  ${body}`;

test("a process with an open runtime ends when its work is done", () => {
  const ended = run(program(`
    const hooks = await runtime.load(${JSON.stringify(file)}, { hooks: [{ event: "PreToolUse", run() {} }] });
    if (!(await hooks.decide(event)).blocks) process.exit(3);`));
  assert.deepEqual([ended.status, ended.stderr], [0, ""]);
});

test("a process lives until its decision is made", () => {
  const script = command("sleep 0.3; echo not here >&2; exit 2");
  const ended = run(program(`
    const hooks = await runtime.load(${JSON.stringify(script)});
    hooks.decide(event).then((response) => { process.exitCode = response.blocks ? 42 : 3; });`));
  assert.deepEqual([ended.status, ended.stderr], [42, ""]);
});

test("a process may end while hooks are at work", () => {
  const ended = run(program(`
    const never = { event: "PreToolUse", run: () => new Promise(() => {}) };
    const hooks = await runtime.load(${JSON.stringify(command("sleep 5"))}, { hooks: [never] });
    for (let i = 0; i < 20; i++) hooks.decide(event);
    setTimeout(() => process.exit(42), 200);`));
  assert.deepEqual([ended.status, ended.stderr], [42, ""]);
});

test("what nobody holds is collected, functions too", () => {
  const ended = run(program(`
    const used = new WeakSet();
    let gone = 0;
    const registry = new FinalizationRegistry(() => gone++);
    for (let i = 0; i < 20; i++) {
      const own = await Runtime.open();
      const run = () => {};
      registry.register(run);
      registry.register(own);
      await (await own.load({}, { hooks: [{ event: "PreToolUse", run }] })).decide(event);
    }
    for (let i = 0; i < 50 && gone < 38; i++) { gc(); await new Promise((resolve) => setTimeout(resolve, 20)); }
    process.exit(gone >= 38 ? 42 : gone);`), "--expose-gc");
  assert.deepEqual([ended.status, ended.stderr], [42, ""]);
});

test("a forked process opens a runtime of its own", async () => {
  const path = join(import.meta.dirname, "child.generated.mjs");
  writeFileSync(path, program(`
    const hooks = await runtime.load(${JSON.stringify(file)});
    process.send((await hooks.decide(event)).blocks);
    process.disconnect();`));
  after(() => rmSync(path));
  const children = await Promise.all(Array.from({ length: 3 }, () => new Promise((resolve) => fork(path).once("message", resolve))));
  assert.deepEqual(children, [true, true, true]);
});

test("worker threads decide, and may be ended", async () => {
  const code = program(`
    const hooks = await runtime.load(${JSON.stringify(file)}, { hooks: [{ event: "PreToolUse", run() {} }] });
    const { parentPort } = await import("node:worker_threads");
    const slow = await runtime.load(${JSON.stringify(command("sleep 5"))});
    slow.decide(event);
    parentPort.postMessage((await hooks.decide(event)).blocks);`);
  // An eval'd worker is a script; a data URL has no folder to find packages from.
  const path = join(import.meta.dirname, "worker.generated.mjs");
  writeFileSync(path, code);
  after(() => rmSync(path));
  for (let i = 0; i < 3; i++) {
    const worker = new Worker(path);
    assert.equal(await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject)), true);
    await worker.terminate();
  }
});
