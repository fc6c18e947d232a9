import type { EventContext, Json, ToolCall, llm } from "./index.js";

/** A simulated host. */
export interface Host {
  /** The hook's configuration. */
  config: Json;
  /** The event as the client sent it. */
  rawEvent: Json;
  /** Keys and values of `state`. */
  state: Map<string, string>;
  /** Messages logged so far. */
  logs: { level: "debug" | "info" | "warn" | "error"; message: string }[];
  http?: (request: Request) => Response;
  llm?: (prompt: llm.Prompt) => string;
}

export interface Request {
  method: string;
  url: string;
  headers: [string, string][];
  body: Uint8Array | null;
}

export interface Response {
  /** Default: 200. */
  status?: number;
  headers?: Record<string, string> | [string, string][];
  body?: string | Uint8Array;
}

/** Sets the host: without configuration, state, logs, network and model, except for the given ones. */
export function host(given?: {
  config?: Json;
  rawEvent?: Json;
  state?: Record<string, string>;
  http?: (request: Request) => Response;
  llm?: (prompt: llm.Prompt) => string;
}): Host;

/** Creates an event's context, for tests. */
export function context(fields?: Partial<EventContext>): EventContext;

/** Creates a tool call: `toolCall("Bash", { command: "ls" })`. */
export function toolCall(name: string, input?: Json, fields?: Partial<ToolCall>): ToolCall;

/** Makes `http` or `llm` of a simulated host fail as the real one does: `fail("timeout")`. */
export function fail(code: string, why?: string): never;
