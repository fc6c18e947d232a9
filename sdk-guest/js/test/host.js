// Replacements for the parts that only a component has: the system's clock and randomness, and the log.
const SYSTEM = {
  "system/clock.js": `
    let at = 0;
    export const now = () => at;
    export const subscribeDuration = (wait) => ({ block() { at += wait; } });`,
  "system/random.js": `
    let byte = 0;
    export const getRandomBytes = (length) => Uint8Array.from({ length }, () => (byte = (byte * 5 + 17) & 255));`,
  "host/log.js": "export const log = (level, message) => (globalThis.__logged ??= []).push([level, message]);",
};

export async function load(url, context, next) {
  const system = Object.keys(SYSTEM).find((name) => url.endsWith(`/src/${name}`));
  return system ? { format: "module", source: SYSTEM[system], shortCircuit: true } : next(url, context);
}
