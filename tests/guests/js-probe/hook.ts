// Does what a tool's name says, to show what works in JavaScript.
import { type OnPreToolUse, type Json, BadInput, HttpError, LlmError, http, llm, log, pass, respond, state } from "@hookbox/guest";

import { broken } from "./broken.js";

const say = (...values: Json[]) => ({ ...pass(), context: values.map(String).join(" ") });
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Drawn while the hook is built.
const drawn = Math.random();
console.log("imported");

const probes: Record<string, (input: Json) => unknown> = {
  time: () => say(Math.trunc(Date.now() / 1000), new Date(0).toISOString(), performance.timeOrigin > 1e12),
  random: () => say(Math.random(), crypto.randomUUID(), drawn),
  async sleep() {
    const begin = Date.now();
    await sleep(30);
    return say(Date.now() - begin >= 30, performance.now() >= 30);
  },
  async order() {
    const seen: string[] = [];
    setTimeout(() => seen.push("timer"), 1);
    queueMicrotask(() => seen.push("microtask"));
    const all = await Promise.all([1, sleep(5).then(() => 2), Promise.resolve(3)]);
    for await (const value of generate()) seen.push(value);
    return say(...seen, all);
  },
  text: () => say(new TextDecoder().decode(new TextEncoder().encode("é😀")), atob(btoa("text")), structuredClone({ a: [1] }).a),
  url() {
    const url = new URL("../c?x=1&y=%20#f", "https://bücher.example:443/a/b");
    url.searchParams.append("z", "é");
    return say(url.href, url.searchParams.get("y") === " ", new URLSearchParams({ a: "1" }));
  },
  print() {
    console.log("to %s", "log", { a: [1] });
    console.error(new Error("shown"));
    log.debug("100%");
    return say("printed");
  },
  rejection: () => (void Promise.reject(new Error("floating")), say("done")),
  http() {
    try {
      http.get("http://127.0.0.1:1/");
    } catch (error) {
      return say(error instanceof HttpError && error.code);
    }
  },
  llm() {
    try {
      llm.complete("?");
    } catch (error) {
      return say(error instanceof LlmError && error.code);
    }
  },
  large: (input) => say(input.text.length, JSON.stringify(input).length),
  respond: () => respond("instead"),
  error() {
    throw new Error("an error");
  },
  deep: () => broken(null),
  async rejected() {
    await sleep(1);
    throw new RangeError("later");
  },
  never: () => new Promise(() => {}),
  bad() {
    throw new BadInput("odd");
  },
  wrong: () => ({ decison: "deny" }),
  fetch: () => fetch("https://example.com"),
  loop() {
    for (;;);
  },
  recursion: function again(): unknown {
    return [again()];
  },
  ttl: () => say(state.increment("n", 1, { ttlMs: 60_000 })),
};

async function* generate() {
  yield "first";
  await sleep(1);
  yield "second";
}

export const onPreToolUse: OnPreToolUse = (call) => probes[call.name]?.(call.input) as ReturnType<OnPreToolUse>;
