// The host of a test: see testing.js. It is not part of components.

let current;

/** Sets the host. */
export function use(host) {
  current = host;
}

export function host() {
  if (current === undefined) throw new Error('no host: call `host()` from "@hookbox/guest/testing" first');
  return current;
}

/** Throws an error of the contract, in the same form as a component's imports. */
export function fail(tag, val) {
  throw Object.assign(new Error(tag), { payload: { tag, val } });
}
