// Randomness from the host. The engine's own generator is seeded in the build, so it would be the same in every call.
import { getRandomBytes } from "../system/random.js";
import { hasHost } from "./loop.js";

/** Returns unpredictable bytes. While the hook is built they are always the same. */
function bytes(length) {
  return hasHost() ? new Uint8Array(getRandomBytes(length)) : new Uint8Array(length).fill(0x5a);
}

let pool = [];
let fromHost = false;

/** A number with 53 random bits, as in ECMAScript. */
Math.random = () => {
  if (pool.length === 0 || fromHost !== hasHost()) {
    pool = [...new Uint32Array(bytes(256).buffer)];
    fromHost = hasHost();
  }
  const [high, low] = [pool.pop(), pool.pop()];
  return ((high >>> 5) * 0x4000000 + (low >>> 6)) / 0x20000000000000;
};

globalThis.crypto = {
  getRandomValues(array) {
    if (array.byteLength > 65536) throw new RangeError("getRandomValues fills 65536 bytes at most");
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes(array.byteLength));
    return array;
  },
  randomUUID() {
    const random = bytes(16);
    random[6] = (random[6] & 0x0f) | 0x40;
    random[8] = (random[8] & 0x3f) | 0x80;
    const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  },
};
