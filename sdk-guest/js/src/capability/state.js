import * as host from "#host/state";

import { StateError, call } from "../errors.js";

const state = (act) => call("state", StateError, act);

export const get = (key) => state(() => host.get(key)) ?? undefined;
export const set = (key, value, options) => state(() => host.set(key, text(value), ttl(options)));
export const increment = (key, by = 1, options) => state(() => host.increment(key, whole("by", by), ttl(options)));
export const keys = (prefix = "") => state(() => host.keys(prefix));

export function compareAndSwap(key, expected, value, options) {
  return state(() => host.compareAndSwap(key, expected ?? null, text(value), ttl(options)));
}

function remove(key) {
  return state(() => host.delete(key));
}
export { remove as delete };

function text(value) {
  if (typeof value !== "string") throw new TypeError(`state: a value is a string, not ${typeof value}`);
  return value;
}

function ttl(options) {
  return options?.ttlMs === undefined ? null : Math.max(0, whole("ttlMs", options.ttlMs));
}

function whole(name, number) {
  if (!Number.isSafeInteger(number)) throw new TypeError(`state: \`${name}\` is a whole number, not ${number}`);
  return number;
}
