import { fail, host } from "./host.js";

export function send(request) {
  const { http } = host();
  if (http === undefined) fail("denied", "the test has no `http`");
  const { status = 200, headers = [], body = "" } = http(request);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return { status, headers: Array.isArray(headers) ? headers : Object.entries(headers), body: bytes };
}
