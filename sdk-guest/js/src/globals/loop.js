// The event loop. A component's call ends when its function returns, so promises and timers must run inside the call.
// `hookbox build` compiles `async` to generators that use this Promise.
import { now, subscribeDuration } from "../system/clock.js";
import { Promise, jobs, unhandled } from "./promise.js";

let calls = false;
let origin;
/** Actions for the start of the first call. */
export const atBegin = [];
const timers = new Map();
let last = 0;

/** Starts a call. Before the first call the hook is being built and there is no host. */
export function begin() {
  if (calls) return;
  calls = true;
  origin = { mono: now(), wall: Date.now() };
  for (const act of atBegin) act();
}

export const hasHost = () => calls;

/** Runs the event loop until a handler's answer settles, and returns its value. */
export function settle(name, answer) {
  let outcome;
  if (typeof answer?.then === "function") {
    Promise.resolve(answer).then(
      (value) => (outcome = { value }),
      (error) => (outcome = { error }),
    );
    while (outcome === undefined) {
      runJobs();
      if (outcome === undefined && !runTimer()) {
        throw new Error(`${name} waits for a promise that nothing settles`);
      }
    }
  } else {
    runJobs();
    outcome = { value: answer };
  }
  for (const error of unhandled.values()) console.error("unhandled rejection:", error);
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

function runJobs() {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) job();
}

/** Waits for the next timer and runs it. */
function runTimer() {
  let next;
  for (const timer of timers.values()) if (next === undefined || timer.at < next.at) next = timer;
  if (next === undefined) return false;
  const wait = next.at - now();
  if (wait > 0) {
    const timer = subscribeDuration(wait);
    timer.block();
    timer[Symbol.for("dispose")]?.();
  }
  if (next.every === undefined) timers.delete(next.id);
  else next.at = now() + next.every;
  next.callback(...next.values);
  return true;
}

function start(callback, milliseconds, values, repeat) {
  if (typeof callback !== "function") throw new TypeError("a timer's callback is a function");
  const every = Math.max(0, Math.trunc(Number(milliseconds) || 0)) * 1e6;
  timers.set(++last, { id: last, at: now() + every, every: repeat ? every : undefined, callback, values });
  return last;
}

globalThis.Promise = Promise;
globalThis.queueMicrotask = (callback) => void jobs.push(() => callback());
globalThis.setTimeout = (callback, milliseconds, ...values) => start(callback, milliseconds, values, false);
globalThis.setInterval = (callback, milliseconds, ...values) => start(callback, milliseconds, values, true);
globalThis.setImmediate = (callback, ...values) => start(callback, 0, values, false);
globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = (id) => void timers.delete(id);
// The engine's own clock starts at the build.
globalThis.performance = {
  now: () => (calls ? (now() - origin.mono) / 1e6 : 0),
  get timeOrigin() {
    return origin?.wall ?? 0;
  },
};
