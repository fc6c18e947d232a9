// A simulated host, for testing hooks with plain `node --test`.
import { fail, use } from "./pretended/host.js";

export function host({ config = {}, state = {}, rawEvent = {}, http, llm } = {}) {
  const pretended = { config, state: new Map(Object.entries(state)), rawEvent, http, llm, logs: [] };
  use(pretended);
  return pretended;
}

export const context = (fields) => ({ dialect: "claude", eventName: "Test", ...fields });
export const toolCall = (name, input = {}, fields) => ({ name, input, ...fields });
export { fail };
