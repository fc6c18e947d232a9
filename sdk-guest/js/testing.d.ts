import type { EventContext, Json, ToolCall, llm } from "./index.js";

/** A pretended host. */
export interface Host {
  /** The hook's configuration. */
  config: Json;
  /** The event as the client sent it. */
  rawEvent: Json;
  /** What package state has. */
  state: Map<string, string>;
  /** What was logged so far. */
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
  /** 200 when left out. */
  status?: number;
  headers?: Record<string, string> | [string, string][];
  body?: string | Uint8Array;
}

/** The host from now on: no configuration, no state, nothing logged, no network and no model but what is given. */
export function host(given?: {
  config?: Json;
  rawEvent?: Json;
  state?: Record<string, string>;
  http?: (request: Request) => Response;
  llm?: (prompt: llm.Prompt) => string;
}): Host;

/** The context of a test's event. */
export function context(fields?: Partial<EventContext>): EventContext;

/** A tool call: `toolCall("Bash", { command: "ls" })`. */
export function toolCall(name: string, input?: Json, fields?: Partial<ToolCall>): ToolCall;

/** For `http` and `llm` of a pretended host: fails as the real one does, `fail("timeout")`. */
export function fail(code: string, why?: string): never;
