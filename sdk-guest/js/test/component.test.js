// Tests of the conversions between the contract and a handler, with records as the host passes them.
import assert from "node:assert/strict";
import { register } from "node:module";
import { test } from "node:test";

register("./host.js", import.meta.url);
const events = await import("../src/events.js");
const { BadInput, allow, block, deny, endTurn, pass, respond, skip } = await import("@hookbox/guest");

const CONTEXT = { dialect: "claude", eventName: "PreToolUse", sessionId: "s", cwd: null, iteration: 0 };
const CALL = { name: "Bash", input: '{"command":"ls"}', useId: null, originalInput: null };
const EFFECTS = { context: null, systemMessage: null, suppressOutput: false, halt: null, extra: null };

const tool = (handler, call = CALL) => events.preToolUse(handler).handle(CONTEXT, call);
const failure = (act) => {
  try {
    act();
  } catch (thrown) {
    return thrown;
  }
  return assert.fail("it did not fail");
};

test("what comes in is plain values, and what a client did not send is absent", () => {
  tool((call, context) => {
    assert.deepEqual(call, { name: "Bash", input: { command: "ls" } });
    assert.deepEqual(context, { dialect: "claude", eventName: "PreToolUse", sessionId: "s", iteration: 0 });
  });
  events.otherEvent((event) => assert.deepEqual(event, [1])).handle(CONTEXT, "[1]");
});

test("an input is parsed once, and only when it is looked at", () => {
  assert.doesNotThrow(() => tool(() => pass(), { ...CALL, input: "no JSON" }));
  tool((call) => {
    call.input.command = "changed";
    assert.equal(call.input.command, "changed");
  });
});

test("decisions are lowered", () => {
  const decision = (output) => tool(() => output).decision;
  assert.deepEqual(decision(pass()), { tag: "pass" });
  assert.deepEqual(decision(undefined), { tag: "pass" });
  assert.deepEqual(decision(null), { tag: "pass" });
  assert.deepEqual(decision(deny("no")), { tag: "deny", val: "no" });
  assert.deepEqual(decision(deny("")), { tag: "deny", val: null });
  assert.deepEqual(decision(allow()), { tag: "allow", val: null });
  assert.deepEqual(decision(skip("x")), { tag: "skip", val: "x" });
  assert.deepEqual(decision(respond("text")), {
    tag: "respond",
    val: { forLlm: "text", forUser: null, silent: false, isError: false, extra: null },
  });
  const permission = events.permissionRequest(() => ({ ...deny("never"), interrupt: true }));
  assert.deepEqual(permission.handle(CONTEXT, CALL, { suggestions: null }).decision, {
    tag: "deny",
    val: { message: "never", interrupt: true },
  });
  assert.deepEqual(events.stop(() => block("on")).handle(CONTEXT, {}).decision, { tag: "block", val: "on" });
});

test("effects and rewrites are lowered", () => {
  assert.deepEqual(
    tool(() => ({ ...allow(), ...endTurn("x"), updatedInput: { a: 1 }, updatedTool: "exec", context: "c", extra: { b: 2 } })),
    {
      decision: { tag: "allow", val: null },
      updatedInput: '{"a":1}',
      updatedTool: "exec",
      effects: { ...EFFECTS, context: "c", halt: { scope: "turn", reason: "x" }, extra: '{"b":2}' },
    },
  );
  assert.deepEqual(events.notification(() => ({ systemMessage: "m" })).handle(CONTEXT, {}), { ...EFFECTS, systemMessage: "m" });
  assert.deepEqual(events.sessionStart(() => ({ env: { A: "1" } })).handle(CONTEXT, {}).env, [["A", "1"]]);
  assert.equal(events.otherEvent(() => undefined).handle(CONTEXT, "{}"), null);
  assert.equal(events.otherEvent(() => ({ a: 1 })).handle(CONTEXT, "{}"), '{"a":1}');
});

test("what is not an output is a failure, never a pass", () => {
  for (const [output, why] of [
    ["deny", /onPreToolUse returned "deny"; it must return an object \(decision, reason, …\) or nothing/],
    [true, /returned true/],
    [[], /returned an array/],
    [{ decison: "deny" }, /`decison`, which is unknown here; known are decision, reason/],
    [block("x"), /decision "block", which is unknown here; known are pass, allow/],
    [{ decision: "dney" }, /decision "dney"/],
    [{ decision: "toString" }, /decision "toString"/],
    [{ decision: "deny", reason: 5 }, /returned 5 as `reason`; it must be a string/],
    [{ reason: "x" }, /a reason without a decision/],
    [{ ...deny("x"), interrupt: true }, /`interrupt`, which is unknown here/],
    [respond({}), /without `forLlm`/],
    [{ updatedInput: () => 1 }, /has no JSON/],
    [{ extra: [] }, /`extra`; it must be an object/],
    [{ halt: "turn" }, /`halt`/],
    [{ suppressOutput: "yes" }, /`suppressOutput`; it must be a boolean/],
  ]) {
    const { tag, val } = failure(() => tool(() => output));
    assert.equal(tag, "failed");
    assert.match(val, why);
  }
  assert.match(failure(() => events.stop(() => deny("x")).handle(CONTEXT, {})).val, /known are pass, block/);
  assert.match(failure(() => events.preToolUse(5)).message, /onPreToolUse is 5/);
});

test("errors are faults with their message", () => {
  const fault = (error) => failure(() => tool(() => { throw error; }));
  assert.deepEqual(fault(new Error("an error")), { tag: "failed", val: "an error" });
  assert.deepEqual(fault(new TypeError("x")), { tag: "failed", val: "TypeError: x" });
  assert.deepEqual(fault("text"), { tag: "failed", val: 'threw "text"' });
  assert.deepEqual(fault(new BadInput("odd")), { tag: "bad-input", val: "odd" });
  assert.equal(failure(() => tool((call) => call.input, { ...CALL, input: "{" })).tag, "failed");
});

test("a position is the author's", () => {
  const error = new Error("x");
  error.stack = "    at wrap (hook.js:1:5)\n    at guard (hook.js:3:20)\n";
  globalThis.__hookboxLines = { files: ["src/hook.ts"], runs: [[2, 4, 0, 11]] };
  assert.equal(failure(() => tool(() => { throw error; })).val, "x (src/hook.ts:12)");
  delete globalThis.__hookboxLines;
});
