// What went wrong outside the hook. Any error that leaves a handler is the hook's failure, never an output.

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

/** Calls a function of the host; what it throws, or an error of the contract it carries, becomes one of ours. */
export function call(capability, Type, act) {
  try {
    return act();
  } catch (error) {
    // As the component's imports throw it, and as the pretended host does.
    const { tag, val } = error?.payload ?? {};
    throw tag === undefined ? error : new Type(capability, tag, val);
  }
}
