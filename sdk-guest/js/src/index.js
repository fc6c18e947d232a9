// What a hook imports. A capability is asked for when a function of it is called.
export * as config from "./capability/config.js";
export { rawEvent } from "./capability/event.js";
export * as http from "./capability/http.js";
export * as llm from "./capability/llm.js";
export * as log from "./capability/log.js";
export * as state from "./capability/state.js";
export { allow, ask, block, deny, endSession, endTurn, pass, respond, skip } from "./decisions.js";
export { BadInput, HttpError, LlmError, StateError } from "./errors.js";
