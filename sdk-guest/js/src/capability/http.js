import { send as exchange } from "#host/http";

import { HttpError, call } from "../errors.js";

export function send({ method = "GET", url, headers = [], body }) {
  const response = call("http", HttpError, () =>
    exchange({ method, url: String(url), headers: pairs(headers), body: bytes(body) }),
  );
  return new Response(response);
}

export const get = (url, headers) => send({ url, headers });

export function postJson(url, value, headers) {
  const body = JSON.stringify(value);
  return send({ method: "POST", url, headers: [["content-type", "application/json"], ...pairs(headers ?? [])], body });
}

class Response {
  constructor({ status, headers, body }) {
    this.status = status;
    this.headers = headers;
    this.body = body instanceof Uint8Array ? body : new Uint8Array(body);
  }

  get ok() {
    return this.status >= 200 && this.status < 300;
  }

  header(name) {
    return this.headers.find(([header]) => header.toLowerCase() === name.toLowerCase())?.[1];
  }

  text() {
    return new TextDecoder().decode(this.body);
  }

  json() {
    return JSON.parse(this.text());
  }
}

function pairs(headers) {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return entries.map(([name, value]) => [String(name), String(value)]);
}

function bytes(body) {
  if (body === undefined || body === null) return null;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError("http: a body is a string or a Uint8Array");
}
