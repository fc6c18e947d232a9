// The modules that a hook imports. A hook requests a capability by calling one of its functions.
export * as config from "./capability/config.js";
export { rawEvent } from "./capability/event.js";
export * as http from "./capability/http.js";
export * as llm from "./capability/llm.js";
export * as log from "./capability/log.js";
export * as state from "./capability/state.js";
export { allow, ask, block, deny, endSession, endTurn, pass, respond, skip } from "./decisions.js";
export { BadInput, HttpError, LlmError, StateError } from "./errors.js";
