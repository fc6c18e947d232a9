// Errors outside the hook. An error that leaves a handler is a failure of the hook, never an output.

export class BadInput extends Error {
  name = "BadInput";
}

class CapabilityError extends Error {
  constructor(capability, code, why) {
    super(why === undefined ? `${capability}: ${code}` : `${capability}: ${code}: ${why}`);
    this.code = code;
  }
}

export class StateError extends CapabilityError {
  name = "StateError";
}

export class HttpError extends CapabilityError {
  name = "HttpError";
}

export class LlmError extends CapabilityError {
  name = "LlmError";
}

/** Calls a host function. An error of the contract in a thrown exception becomes an error of this package. */
export function call(capability, Type, act) {
  try {
    return act();
  } catch (error) {
    // This is the form that the component's imports throw. The simulated host does the same.
    const { tag, val } = error?.payload ?? {};
    throw tag === undefined ? error : new Type(capability, tag, val);
  }
}
