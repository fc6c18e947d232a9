// Between the contract and a handler: what comes in becomes plain values, what goes out is checked to the last member. A
// mistyped `decison` is a failure of the hook; were it ignored, it would open a gate.
import { BadInput } from "./errors.js";
import { begin, settle } from "./globals/loop.js";
import { position } from "./position.js";

const EFFECTS = { context: "text", systemMessage: "text", suppressOutput: "flag", halt: "halt", extra: "object" };

/**
 * How an event is handled. `inputs`: of each parameter the members that are JSON, or that it is JSON as a whole;
 * `output`: what a handler may return.
 */
export function event(name, inputs, output) {
  return (handler) => {
    if (typeof handler !== "function") throw new TypeError(`${name} is ${shown(handler)}, and has to be a function`);
    return {
      handle(context, ...values) {
        try {
          begin();
          const parameters = inputs.map((json, index) => lift(values[index], json));
          return lower(name, output, settle(name, handler(...parameters, lift(context, []))));
        } catch (error) {
          // The runtime makes the contract's error of what is thrown here.
          throw fault(error);
        }
      },
    };
  };
}

function lift(value, json) {
  if (json === "json") return JSON.parse(value);
  const lifted = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === null) continue;
    if (json.includes(key)) parsedWhenAsked(lifted, key, member);
    else lifted[key] = member;
  }
  return lifted;
}

function lower(name, output, answer) {
  const given = answer ?? {};
  if (output === "json") return answer === undefined || answer === null ? null : json(name, "an object", answer);
  if (typeof given !== "object" || Array.isArray(given)) wrong(name, `returned ${shown(given)}`);
  if (output === "nothing") return members(name, given, {});
  const { decision, fields = {} } = output === "effects" ? {} : output;
  const decided = decision === undefined ? {} : { decision: "decision", reason: "text", response: "response" };
  if (decision && Object.values(decision).includes("denial")) decided.interrupt = "flag";
  const { effects, lowered } = split(members(name, given, { ...decided, ...fields, ...EFFECTS }), fields);
  if (output === "effects") return effects;
  if (decision) lowered.decision = decide(name, decision, given);
  return { ...lowered, effects };
}

/** Every member, checked and as the contract has it; absent ones are none. */
function members(name, given, kinds) {
  for (const key of Object.keys(given)) {
    if (given[key] !== undefined && !Object.hasOwn(kinds, key)) {
      const known = Object.keys(kinds).join(", ");
      wrong(name, `returned \`${key}\`, which its output has not${known && `; it has ${known}`}`);
    }
  }
  return Object.fromEntries(Object.entries(kinds).map(([key, kind]) => [key, KINDS[kind](name, key, given[key])]));
}

const expect = (name, key, value, type) =>
  typeof value === type ? value : wrong(name, `returned ${shown(value)} as \`${key}\`, which is a ${type}`);

const KINDS = {
  decision: () => undefined,
  response: () => undefined,
  text: (name, key, value) => (value === undefined ? null : expect(name, key, value, "string")),
  flag: (name, key, value) => value !== undefined && expect(name, key, value, "boolean"),
  json: (name, key, value) => (value === undefined ? null : json(name, `\`${key}\``, value)),
  object(name, key, value) {
    if (value === undefined) return null;
    if (!isObject(value)) wrong(name, `returned ${shown(value)} as \`${key}\`, which is an object`);
    return json(name, `\`${key}\``, value);
  },
  pairs(name, key, value = {}) {
    if (!isObject(value)) wrong(name, `returned ${shown(value)} as \`${key}\`, which is an object of strings`);
    return Object.entries(value).map(([variable, text]) => [variable, expect(name, `${key}.${variable}`, text, "string")]);
  },
  halt(name, key, value) {
    if (value === undefined) return null;
    if (!isObject(value)) wrong(name, `returned ${shown(value)} as \`halt\`; \`endTurn\` and \`endSession\` make one`);
    const { scope, reason } = value;
    if (scope !== "turn" && scope !== "session") wrong(name, `returned a halt of ${shown(scope)}: "turn" or "session"`);
    return { scope, reason: KINDS.text(name, "halt.reason", reason) };
  },
};

/** What is said about the event itself, apart from what may be said about any. */
function split(all, fields) {
  const pick = (kinds) => Object.fromEntries(Object.keys(kinds).map((key) => [key, all[key]]));
  return { effects: pick(EFFECTS), lowered: pick(fields) };
}

function decide(name, cases, { decision = "pass", reason, response, interrupt = false }) {
  const payload = Object.hasOwn(cases, decision) ? cases[decision] : undefined;
  if (decision !== "pass" && payload === undefined) {
    const known = ["pass", ...Object.keys(cases)].join(", ");
    wrong(name, `decided ${shown(decision)}, which this event does not take; it takes ${known}`);
  }
  if (reason !== undefined && (payload === undefined || payload === "response")) {
    wrong(name, "returned a reason without a decision it belongs to");
  }
  if (interrupt && payload !== "denial") wrong(name, "returned `interrupt` without a deny");
  if (response !== undefined && payload !== "response") wrong(name, "returned a response without `respond`");
  const why = reason || null;
  switch (payload) {
    case undefined:
      return { tag: "pass" };
    case "reason":
      return { tag: decision, val: why };
    case "denial":
      return { tag: decision, val: { message: why, interrupt } };
    case "response":
      return { tag: decision, val: respond(name, response) };
  }
}

function respond(name, response) {
  if (!isObject(response)) wrong(name, `responded with ${shown(response)}: \`respond\` takes a text or a response`);
  const kinds = { forLlm: "text", forUser: "text", silent: "flag", isError: "flag", extra: "object" };
  const lowered = members(name, response, kinds);
  return lowered.forLlm === null ? wrong(name, "responded without `forLlm`, what the model reads") : lowered;
}

function json(name, what, value) {
  const text = JSON.stringify(value);
  return text ?? wrong(name, `returned ${shown(value)} as ${what}, which has no JSON`);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function wrong(name, what) {
  throw new WrongOutput(`${name} ${what}`);
}

class WrongOutput extends Error {}

/** A large input costs nothing unless it is looked at. */
function parsedWhenAsked(lifted, key, text) {
  const set = (value) => Object.defineProperty(lifted, key, { value, writable: true, enumerable: true });
  Object.defineProperty(lifted, key, {
    configurable: true,
    enumerable: true,
    get() {
      const value = JSON.parse(text);
      set(value);
      return value;
    },
    set,
  });
}

function fault(error) {
  if (error instanceof BadInput) return { tag: "bad-input", val: error.message };
  if (error instanceof WrongOutput) return { tag: "failed", val: error.message };
  if (!(error instanceof Error)) return { tag: "failed", val: `threw ${shown(error)}` };
  const what = error.name === "Error" ? error.message : `${error.name}: ${error.message}`;
  const where = position(error);
  return { tag: "failed", val: where === undefined ? what : `${what} (${where})` };
}

function shown(value) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
