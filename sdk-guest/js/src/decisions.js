// Functions that create common outputs. An output is an object: `{ ...deny("why"), context: "more" }` refines one.

export const pass = () => ({});
export const allow = (reason) => decided("allow", reason);
export const ask = (reason) => decided("ask", reason);
export const deny = (reason) => decided("deny", reason);
export const block = (reason) => decided("block", reason);
export const skip = (reason) => decided("skip", reason);

export function respond(response) {
  return { decision: "respond", response: typeof response === "string" ? { forLlm: response } : response };
}

export const endTurn = (reason) => halted("turn", reason);
export const endSession = (reason) => halted("session", reason);

function decided(decision, reason) {
  // Check here, while the author's line is still on the stack.
  if (reason !== undefined && reason !== null && typeof reason !== "string") {
    throw new TypeError(`${decision}: the reason is ${typeof reason}, not a string`);
  }
  return reason ? { decision, reason } : { decision };
}

function halted(scope, reason) {
  return { halt: reason ? { scope, reason } : { scope } };
}
