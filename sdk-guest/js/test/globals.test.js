// Tests of the globals of components, compared with Node's own.
import assert from "node:assert/strict";
import { register } from "node:module";
import { test } from "node:test";

const node = { TextEncoder, TextDecoder, Promise, structuredClone, setImmediate };
Object.defineProperty(globalThis, "crypto", { writable: true });
register("./host.js", import.meta.url);
const { Promise: Ours, jobs } = await import("../src/globals/promise.js");
const { begin, settle } = await import("../src/globals/loop.js");
await import("../src/globals/index.js");
const ours = { TextEncoder, TextDecoder, structuredClone, setTimeout, clearTimeout, setInterval, clearInterval, console, crypto };
// Node's test runner needs its own Promise.
globalThis.Promise = node.Promise;

test("text is encoded and decoded as Node does it", () => {
  for (const text of ["", "plain", "é€😀", "\ud800 alone", "\u0000"]) {
    assert.deepEqual(new ours.TextEncoder().encode(text), new node.TextEncoder().encode(text));
  }
  const broken = [[0x80], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 1], [0xef, 0xbb, 0xbf, 65]];
  for (const bytes of [[65, 0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80], ...broken, broken.flat()]) {
    const array = Uint8Array.from(bytes);
    assert.equal(new ours.TextDecoder().decode(array), new node.TextDecoder().decode(array));
  }
  assert.throws(() => new ours.TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.of(0x80)), TypeError);
  assert.throws(() => new ours.TextDecoder("latin1"), RangeError);
});

/** Records the order of events with the given Promise class. */
function order(Promise) {
  const seen = [];
  const say = (what) => (value) => (seen.push([what, value instanceof Error ? value.message : value]), value);
  const bad = new Error("bad");
  Promise.resolve(1).then(say("a")).then(say("b"));
  Promise.reject(bad).catch(say("c")).finally(() => seen.push("d"));
  new Promise((resolve) => resolve(Promise.resolve(2))).then(say("e"));
  Promise.all([1, Promise.resolve(2), { then: (f) => f(3) }]).then(say("f"));
  Promise.all([1, Promise.reject(bad)]).catch(say("g"));
  Promise.allSettled([1, Promise.reject("h")]).then((all) => say("h")(JSON.stringify(all)));
  Promise.any([Promise.reject(1), Promise.resolve(4)]).then(say("i"));
  Promise.any([Promise.reject(1)]).catch((error) => say("j")(error.errors[0]));
  Promise.race([new Promise(() => {}), Promise.resolve(5)]).then(say("k"));
  Promise.all([]).then((all) => say("l")(all.length));
  new Promise(() => { throw bad; }).then(say("no"), say("m"));
  new Promise((resolve, reject) => (resolve(6), reject(7), resolve(8))).then(say("n"));
  Promise.resolve(1).finally(() => { throw bad; }).catch(say("o"));
  Promise.resolve(1).then(5).then(say("p"));
  return seen;
}

test("promises settle as Node's do, and in its order", async () => {
  const expected = order(node.Promise);
  await new node.Promise((done) => node.setImmediate(done));
  const seen = order(Ours);
  for (let job = jobs.shift(); job; job = jobs.shift()) job();
  assert.deepEqual(new Set(seen.map(String)), new Set(expected.map(String)));
  assert.equal(seen.length, expected.length);
  assert.deepEqual(seen.slice(0, 4), expected.slice(0, 4));
});

test("timers run in the order of their time, within the call", () => {
  begin();
  const seen = [];
  const ended = new Ours((resolve) => {
    ours.setTimeout(() => resolve("end"), 50);
    ours.setTimeout((value) => seen.push(value), 20, "late");
    ours.setTimeout(() => seen.push("soon"), 10);
    ours.clearTimeout(ours.setTimeout(() => seen.push("never"), 5));
    const every = ours.setInterval(() => (seen.push("tick"), seen.filter((s) => s === "tick").length === 2 && ours.clearInterval(every)), 15);
  });
  assert.equal(settle("onStop", ended), "end");
  assert.deepEqual(seen, ["soon", "tick", "late", "tick"]);
  assert.throws(() => settle("onStop", new Ours(() => {})), /onStop waits for a promise that nothing settles/);
  assert.throws(() => settle("onStop", Ours.reject(new Error("no"))), /^Error: no$/);
});

test("console is the log", () => {
  globalThis.__logged = [];
  ours.console.log("a %s b %d %%", "x", 5, { a: [1, "t"], e: new Error("bad") }, null);
  ours.console.error(new Map([["k", new Set([1])]]));
  const loop = {};
  loop.self = loop;
  ours.console.debug(loop);
  assert.deepEqual(globalThis.__logged, [
    ["info", 'a x b 5 % { a: [1, "t"], e: Error: bad } null'],
    ["error", "Map { k: Set [1] }"],
    ["debug", "{ self: [Circular] }"],
  ]);
});

test("values are cloned as Node does it", () => {
  const value = { a: [1, { b: new Date(5) }], m: new Map([[1, new Set(["x"])]]), t: Uint8Array.of(1, 2), n: null };
  value.self = value;
  const copy = ours.structuredClone(value);
  assert.deepEqual(copy, node.structuredClone(value));
  assert.equal(copy.self, copy);
  assert.throws(() => ours.structuredClone({ f() {} }), TypeError);
});

test("randomness is the host's", () => {
  const numbers = Array.from({ length: 100 }, Math.random);
  assert.ok(numbers.every((number) => number >= 0 && number < 1));
  assert.ok(new Set(numbers).size > 30);
  assert.match(ours.crypto.randomUUID(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
