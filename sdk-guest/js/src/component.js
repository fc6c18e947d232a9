// Conversions between the contract and a handler. Input becomes plain values, and every member of the output is
// checked: a mistyped `decison` is a failure of the hook, because ignoring it would allow the tool.
import { BadInput } from "./errors.js";
import { begin, settle } from "./globals/loop.js";
import { handlerPosition, position } from "./position.js";

const EFFECTS = { context: "text", systemMessage: "text", suppressOutput: "flag", halt: "halt", extra: "object" };

/**
 * Creates the export of an event. `inputs` has an entry per parameter: its JSON members, or "json" for a parameter that
 * is JSON as a whole. `output` describes the handler's return value.
 */
export function event(name, inputs, output) {
  const known = membersOf(output);
  return (handler) => {
    if (typeof handler !== "function") throw new TypeError(`${name} is ${shown(handler)}; it must be a function`);
    return {
      handle(context, ...values) {
        try {
          begin();
          const parameters = inputs.map((json, index) => lift(values[index], json));
          return lower(name, output, known, settle(name, handler(...parameters, lift(context, []))));
        } catch (error) {
          // The component runtime converts this exception to the contract's error.
          throw fault(error);
        }
      },
    };
  };
}

function lift(value, json) {
  if (json === "json") return JSON.parse(value);
  const lifted = {};
  for (const key in value) {
    const member = value[key];
    if (member === null) continue;
    if (json.includes(key)) parsedWhenAsked(lifted, key, member);
    else lifted[key] = member;
  }
  return lifted;
}

/** Returns the members that an output may have. */
function membersOf(output) {
  if (typeof output === "string") return output === "effects" ? EFFECTS : {};
  const { decision, fields } = output;
  const decided = decision === undefined ? {} : { decision: "", reason: "", response: "", interrupt: "" };
  if (decision !== undefined && !Object.values(decision).includes("denial")) delete decided.interrupt;
  if (decision !== undefined && !Object.values(decision).includes("response")) delete decided.response;
  return { ...decided, ...fields, ...EFFECTS };
}

function lower(name, output, known, answer) {
  const given = answer ?? {};
  if (output === "json") return answer === undefined || answer === null ? null : json(name, "an object", answer);
  if (typeof given !== "object" || Array.isArray(given)) {
    const all = Object.keys(known).slice(0, 2).join(", ");
    wrong(name, `returned ${shown(given)}; it must return ${all ? `an object (${all}, …) or nothing` : "nothing"}`);
  }
  check(name, given, known);
  if (output === "nothing") return undefined;
  const effects = members(name, given, EFFECTS);
  if (output === "effects") return effects;
  const lowered = members(name, given, output.fields);
  if (output.decision !== undefined) lowered.decision = decide(name, output.decision, given);
  lowered.effects = effects;
  return lowered;
}

/** Throws an error if there are other members. */
function check(name, given, known) {
  for (const key in given) {
    if (given[key] !== undefined && !Object.hasOwn(known, key)) {
      const all = Object.keys(known).join(", ");
      wrong(name, `returned \`${key}\`, which is unknown here; ${all ? `known are ${all}` : "it must return nothing"}`);
    }
  }
}

/** Converts these members to the contract's types and checks them. Absent members stay absent. */
function members(name, given, kinds) {
  const lowered = {};
  for (const key in kinds) lowered[key] = KINDS[kinds[key]](name, key, given[key]);
  return lowered;
}

const expect = (name, key, value, type) =>
  typeof value === type ? value : wrong(name, `returned ${shown(value)} as \`${key}\`; it must be a ${type}`);

const KINDS = {
  text: (name, key, value) => (value === undefined ? null : expect(name, key, value, "string")),
  flag: (name, key, value) => value !== undefined && expect(name, key, value, "boolean"),
  json: (name, key, value) => (value === undefined ? null : json(name, `\`${key}\``, value)),
  object(name, key, value) {
    if (value === undefined) return null;
    if (!isObject(value)) wrong(name, `returned ${shown(value)} as \`${key}\`; it must be an object`);
    return json(name, `\`${key}\``, value);
  },
  pairs(name, key, value = {}) {
    if (!isObject(value)) wrong(name, `returned ${shown(value)} as \`${key}\`; it must be an object of strings`);
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

function decide(name, cases, { decision = "pass", reason, response, interrupt = false }) {
  const payload = Object.hasOwn(cases, decision) ? cases[decision] : undefined;
  if (decision !== "pass" && payload === undefined) {
    const known = ["pass", ...Object.keys(cases)].join(", ");
    wrong(name, `returned the decision ${shown(decision)}, which is unknown here; known are ${known}`);
  }
  if (reason !== undefined) expect(name, "reason", reason, "string");
  if (interrupt !== false) expect(name, "interrupt", interrupt, "boolean");
  if (reason !== undefined && (payload === undefined || payload === "response")) {
    wrong(name, "returned a reason without a decision that takes one");
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
  check(name, response, kinds);
  const lowered = members(name, response, kinds);
  return lowered.forLlm === null ? wrong(name, "responded without `forLlm`, what the model reads") : lowered;
}

function json(name, what, value) {
  const text = JSON.stringify(value);
  return text ?? wrong(name, `returned ${shown(value)} as ${what}, which has no JSON`);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function wrong(name, what) {
  throw new WrongOutput(name, `${name} ${what}`);
}

class WrongOutput extends Error {
  constructor(handler, message) {
    super(message);
    this.handler = handler;
  }
}

/** Parses JSON at the first access, so that an unused large input costs nothing. */
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
  if (error instanceof BadInput) return { tag: "bad-input", val: located(error.message, position(error)) };
  if (error instanceof WrongOutput) return { tag: "failed", val: located(error.message, handlerPosition(error.handler)) };
  if (!(error instanceof Error)) return { tag: "failed", val: `threw ${shown(error)}` };
  const what = error.name === "Error" ? error.message : `${error.name}: ${error.message}`;
  return { tag: "failed", val: located(what, position(error)) };
}

const located = (what, where) => (where === undefined ? what : `${what} (${where})`);

function shown(value) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
