import { fail, host } from "./host.js";

export const get = (key) => host().state.get(key) ?? null;
export const set = (key, value) => void host().state.set(key, value);
export const keys = (prefix) => [...host().state.keys()].filter((key) => key.startsWith(prefix)).sort();

function remove(key) {
  return host().state.delete(key);
}
export { remove as delete };

export function increment(key, by) {
  const before = get(key) ?? "0";
  if (!/^-?\d+$/.test(before)) fail("not-a-number");
  set(key, String(Number(before) + by));
  return Number(before) + by;
}

export function compareAndSwap(key, expected, value) {
  const is = get(key) === expected;
  if (is) set(key, value);
  return is;
}
