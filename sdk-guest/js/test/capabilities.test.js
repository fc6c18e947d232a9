import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { BadInput, HttpError, LlmError, StateError, config, http, llm, log, rawEvent, state } from "@hookbox/guest";
import { fail, host } from "@hookbox/guest/testing";

beforeEach(() => host());

test("state is kept and counted", () => {
  const { state: kept } = host({ state: { b: "2" } });
  assert.equal(state.get("a"), undefined);
  state.set("a", "1", { ttlMs: 1000 });
  assert.equal(state.increment("b", 3), 5);
  assert.equal(state.increment("c"), 1);
  assert.deepEqual(state.keys(), ["a", "b", "c"]);
  assert.deepEqual(state.keys("b"), ["b"]);
  assert.equal(state.compareAndSwap("new", undefined, "x"), true);
  assert.equal(state.compareAndSwap("new", undefined, "y"), false);
  assert.equal(state.delete("new"), true);
  assert.equal(state.delete("new"), false);
  assert.equal(kept.get("b"), "5");
});

test("what state cannot do says so", () => {
  host({ state: { text: "x" } });
  assert.throws(() => state.increment("text"), (error) => error instanceof StateError && error.code === "not-a-number");
  assert.throws(() => state.increment("n", 1.5), /whole number/);
  assert.throws(() => state.set("n", 1), /a value is a string/);
});

test("configuration is read on top of defaults", () => {
  host({ config: { max: 5 } });
  assert.deepEqual(config.get(), { max: 5 });
  assert.deepEqual(config.get({ max: 1, more: true }), { max: 5, more: true });
  assert.throws(() => config.get({ maximum: 1 }), /unknown key `max`; known are maximum/);
});

test("http sends what it is given and reads what comes back", () => {
  const seen = [];
  host({
    http(request) {
      seen.push(request);
      if (request.url.includes("gone")) fail("denied", "not listed");
      return { status: 201, headers: { "Content-Type": "application/json" }, body: '{"é": 1}' };
    },
  });
  const response = http.postJson("https://example.com/", { a: "ü" }, { "x-a": "1" });
  assert.deepEqual([response.status, response.ok, response.json()], [201, true, { é: 1 }]);
  assert.equal(response.header("content-type"), "application/json");
  assert.deepEqual(seen[0].headers, [["content-type", "application/json"], ["x-a", "1"]]);
  assert.equal(new TextDecoder().decode(seen[0].body), '{"a":"ü"}');
  assert.equal(http.get("https://example.com/").text(), '{"é": 1}');
  assert.throws(() => http.get("https://gone/"), (error) => error instanceof HttpError && error.code === "denied");
  assert.throws(() => http.send({ url: "https://example.com/", body: 5 }), /a body is/);
});

test("the model answers or says why not", () => {
  host({ llm: ({ user, maxTokens }) => (maxTokens === 0 ? fail("budget", "used up") : user.toUpperCase()) });
  assert.equal(llm.complete("yes?"), "YES?");
  assert.throws(() => llm.complete({ user: "?", maxTokens: 0 }), (error) => error instanceof LlmError && error.code === "budget");
});

test("log and raw event are the host's", () => {
  const { logs } = host({ rawEvent: { odd: 1 } });
  log.warn("one");
  log.debug(2);
  assert.deepEqual(logs, [{ level: "warn", message: "one" }, { level: "debug", message: "2" }]);
  assert.deepEqual(rawEvent(), { odd: 1 });
});

test("bad input is an error of its own", () => {
  assert.ok(new BadInput("why") instanceof Error);
});
