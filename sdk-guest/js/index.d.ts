/** Any JSON value. */
export type Json = any;

export * from "./events.js";

/** The return value of a handler. `null` and `undefined` mean no decision, like `pass()`. */
export type Answer<Output> = Output | null | undefined | void | Promise<Output | null | undefined | void>;

/** The part of an output that every event has. */
export interface Effects {
  /** Text added to the model's context. claude, blade: `additionalContext`; blade prompts: `contextInjection`. */
  context?: string;
  /** claude: injected into the conversation; codebuddy, blade: a warning for the user. */
  systemMessage?: string;
  /** Keep this hook's output out of the transcript. claude, codebuddy, blade. */
  suppressOutput?: boolean;
  /** End the turn or the session, regardless of other hooks. The reason is shown to the user. */
  halt?: { scope: "turn" | "session"; reason?: string };
  /** An object merged into the dialect's output, for fields that hookbox does not know. */
  extra?: Record<string, Json>;
}

export interface Pass { decision?: "pass" }
export interface Allow { decision: "allow"; reason?: string }
export interface Ask { decision: "ask"; reason?: string }
export interface Deny { decision: "deny"; reason?: string }
export interface Block { decision: "block"; reason?: string }
export interface Skip { decision: "skip"; reason?: string }
export interface Respond { decision: "respond"; response: Response }
/** A refusal of a permission; `interrupt` also ends the turn. claude, blade-callback. */
export interface DenyPermission extends Deny { interrupt?: boolean }

/** A tool result given in place of the tool's own. */
export interface Response {
  /** What the model reads. */
  forLlm: string;
  /** What the user reads, when it differs. */
  forUser?: string;
  /** Do not show it to the user. */
  silent?: boolean;
  isError?: boolean;
  /** Further fields of the dialect's own result. picoclaw. */
  extra?: Record<string, Json>;
}

/** No decision: the client continues as if there were no hook. */
export function pass(): {};
/** Lets the tool run without asking the user. A hook needs the authority for it. */
export function allow(reason?: string): Allow;
/** Asks the user. */
export function ask(reason?: string): Ask;
/** Stops the tool. The model gets the reason. */
export function deny(reason?: string): Deny;
/** Blocks the event. On stop events this means "keep going", and the agent gets the reason. */
export function block(reason?: string): Block;
/** Skips this tool call and continues. It is a deny if the client cannot skip. */
export function skip(reason?: string): Skip;
/**
 * Skips the tool and returns this result in its place. It is a deny with the text if the client does not support it.
 */
export function respond(response: string | Response): Respond;
/** Ends the turn: `{ ...pass(), ...endTurn("enough") }`. The reason is shown to the user. */
export function endTurn(reason?: string): Pick<Effects, "halt">;
/** Ends the session or agent loop. */
export function endSession(reason?: string): Pick<Effects, "halt">;

/** The event as the client sent it. Use it for fields that the contract does not have. */
export function rawEvent(): Json;

/** Log messages for the operator. Always granted, up to the `logKiB` limit. `console` writes to the same log. */
export namespace log {
  function debug(message: unknown): void;
  function info(message: unknown): void;
  function warn(message: unknown): void;
  function error(message: unknown): void;
}

/** The hook's own `config` object from the configuration file. Always granted. */
export namespace config {
  /** The object as it was written, or `{}` if the configuration has none. */
  function get(): Json;
  /**
   * The object on top of defaults. A key that the defaults do not have is an error, so that misspelt keys are found.
   */
  function get<Config extends object>(defaults: Config): Config;
}

export interface StateOptions {
  /** Milliseconds after which the value expires. `increment` uses it only for new keys. */
  ttlMs?: number;
}

/**
 * Keys and values that outlive a call. A hook starts without memory of earlier calls, so values to remember belong
 * here.
 */
export namespace state {
  function get(key: string): string | undefined;
  function set(key: string, value: string, options?: StateOptions): void;
  /** Deletes a value. Returns true if there was one. */
  function _delete(key: string): boolean;
  export { _delete as delete };
  /** Adds atomically and returns the new value. A missing value counts as 0. */
  export function increment(key: string, by?: number, options?: StateOptions): number;
  /** Sets the value only if it is still `expected` (`undefined`: absent). Returns true if it was set. */
  export function compareAndSwap(key: string, expected: string | undefined, value: string, options?: StateOptions): boolean;
  /** Keys that begin with the prefix, in byte order. */
  export function keys(prefix?: string): string[];
  export { get, set };
}

/** HTTP requests to the hosts on the hook's allow-list. Each call waits for its response. */
export namespace http {
  type Headers = Record<string, string> | Iterable<readonly [string, string]>;
  interface Request {
    /** Default: `GET`. */
    method?: string;
    /** Absolute, `http` or `https`. */
    url: string;
    headers?: Headers;
    body?: string | Uint8Array;
  }
  interface Response {
    readonly status: number;
    /** True for a status from 200 to 299. */
    readonly ok: boolean;
    readonly headers: [string, string][];
    readonly body: Uint8Array;
    /** Returns the first header with this name. Case does not matter. */
    header(name: string): string | undefined;
    text(): string;
    json(): Json;
  }
  function send(request: Request): Response;
  function get(url: string, headers?: Headers): Response;
  function postJson(url: string, value: unknown, headers?: Headers): Response;
}

/** Requests to the host's language model, within the hook's budget. */
export namespace llm {
  interface Prompt {
    user: string;
    system?: string;
    /** Default: the configured model. */
    model?: string;
    /** Maximum number of tokens in the answer. */
    maxTokens?: number;
  }
  /** Sends the request and waits for the answer. */
  function complete(prompt: string | Prompt): string;
}

/**
 * Error for an event that does not have the form that the hook expects. Any other error is a failure of the hook
 * itself.
 */
export class BadInput extends Error {}

export class StateError extends Error {
  /**
   * `quota`: too long or too many. `not-a-number`: `increment` found another value. `unavailable`: a retry may help.
   */
  readonly code: "quota" | "not-a-number" | "unavailable";
}

export class HttpError extends Error {
  /** `denied`: not on the allow-list. `timeout`: the hook's deadline passed. An error status is not an error. */
  readonly code: "denied" | "too-large" | "timeout" | "failed";
}

export class LlmError extends Error {
  /** `budget`: the hook has used up its calls or tokens. */
  readonly code: "budget" | "timeout" | "failed";
}
