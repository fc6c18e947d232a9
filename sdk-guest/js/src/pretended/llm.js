import { fail, host } from "./host.js";

export function complete(prompt) {
  const { llm } = host();
  return llm === undefined ? fail("failed", "the test has no `llm`") : llm(prompt);
}
