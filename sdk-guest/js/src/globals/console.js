// The console, which writes to the log.
import { log } from "../host/log.js";
import { atBegin, hasHost } from "./loop.js";

/** Messages from the build. They are repeated in every call, as if the module were loaded at its start. */
const early = [];
atBegin.push(() => early.forEach((said) => log(...said)));

function say(level, values) {
  const message = format(values);
  if (hasHost()) log(level, message);
  else early.push([level, message]);
}

const at = (level) => (...values) => say(level, values);

globalThis.console = {
  log: at("info"),
  info: at("info"),
  debug: at("debug"),
  trace: at("debug"),
  warn: at("warn"),
  error: at("error"),
  dir: (value) => say("info", [value]),
  assert: (is, ...values) => is || say("error", ["assertion failed:", ...values]),
  group: at("info"),
  groupEnd() {},
  table: at("info"),
  time() {},
  timeEnd() {},
};

function format(values) {
  const rest = [...values];
  const parts = [];
  if (typeof rest[0] === "string" && rest[0].includes("%")) {
    const text = rest.shift();
    parts.push(
      text.replace(/%[sdifjoOc%]/g, (verb) => {
        if (verb === "%%") return "%";
        if (rest.length === 0) return verb;
        const value = rest.shift();
        if (verb === "%c") return "";
        if (verb === "%d" || verb === "%i" || verb === "%f") return String(Number(value));
        return verb === "%s" ? String(value) : inspect(value);
      }),
    );
  }
  return [...parts, ...rest.map((value) => (typeof value === "string" ? value : inspect(value)))].join(" ");
}

function inspect(value, above = []) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `[Function ${value.name}]`;
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Error) return `${value}`;
  if (above.includes(value)) return "[Circular]";
  const inside = [...above, value];
  if (Array.isArray(value)) return `[${value.map((item) => inspect(item, inside)).join(", ")}]`;
  if (value instanceof Date || value instanceof RegExp) return String(value);
  if (value instanceof Map) return `Map ${inspect(Object.fromEntries(value), inside)}`;
  if (value instanceof Set) return `Set ${inspect([...value], inside)}`;
  const members = Object.entries(value).map(([key, item]) => `${key}: ${inspect(item, inside)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
