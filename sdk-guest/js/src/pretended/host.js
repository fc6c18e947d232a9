// The host of a test: see testing.js. There is nothing of it in a component.

let current;

/** The host from now on. */
export function use(host) {
  current = host;
}

export function host() {
  if (current === undefined) throw new Error('no host: call `host()` from "@hookbox/guest/testing" first');
  return current;
}

/** An error of the contract, as a component's imports throw it. */
export function fail(tag, val) {
  throw Object.assign(new Error(tag), { payload: { tag, val } });
}
