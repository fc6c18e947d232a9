import { get as read } from "#host/config";

export function get(defaults) {
  const written = JSON.parse(read());
  if (defaults === undefined) return written;
  const unknown = Object.keys(written).find((key) => !Object.hasOwn(defaults, key));
  if (unknown !== undefined) {
    throw new Error(`configuration: unknown key \`${unknown}\`; known are ${Object.keys(defaults).join(", ") || "none"}`);
  }
  return { ...defaults, ...written };
}
