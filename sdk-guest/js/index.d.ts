/** Any JSON value. */
export type Json = any;

export * from "./events.js";

/** What a handler may return. `null` and `undefined` have nothing to say, as `pass()` has. */
export type Answer<Output> = Output | null | undefined | void | Promise<Output | null | undefined | void>;

/** What a hook may say about any event. */
export interface Effects {
  /** Text added to the model's context. claude, blade: `additionalContext`; blade prompts: `contextInjection`. */
  context?: string;
  /** claude: injected into the conversation; codebuddy, blade: a warning for the user. */
  systemMessage?: string;
  /** Keep this hook's output out of the transcript. claude, codebuddy, blade. */
  suppressOutput?: boolean;
  /** End the turn or the session, whatever the other hooks say. The reason is shown to the user. */
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

/** Nothing to say: the client goes on as if there were no hook. */
export function pass(): {};
/** Let the tool run without asking the user. A hook needs the authority for it. */
export function allow(reason?: string): Allow;
/** Ask the user. */
export function ask(reason?: string): Ask;
/** Do not let the tool run. The reason is what the model is told. */
export function deny(reason?: string): Deny;
/** Do not let it happen. On stop events this means "keep going"; the reason is what the agent is told. */
export function block(reason?: string): Block;
/** Leave this tool call out and go on. Where a client cannot skip, it is a deny. */
export function skip(reason?: string): Skip;
/** Do not run the tool and give this result in its place. Where a client cannot, it is a deny with the text. */
export function respond(response: string | Response): Respond;
/** End the turn: `{ ...pass(), ...endTurn("enough") }`. The reason is shown to the user. */
export function endTurn(reason?: string): Pick<Effects, "halt">;
/** End the session or agent loop. */
export function endSession(reason?: string): Pick<Effects, "halt">;

/** The event as the client sent it, with fields that hookbox does not know. */
export function rawEvent(): Json;

/** Messages for whoever runs the hook. Always granted; the volume is capped. `console` ends here too. */
export namespace log {
  function debug(message: unknown): void;
  function info(message: unknown): void;
  function warn(message: unknown): void;
  function error(message: unknown): void;
}

/** The hook's own `config` object from the configuration file. Always granted. */
export namespace config {
  /** The object as it was written; `{}` when none was. */
  function get(): Json;
  /** The object on top of defaults. A key that the defaults have not is an error: a misspelt one is not overlooked. */
  function get<Config extends object>(defaults: Config): Config;
}

export interface StateOptions {
  /** Forget the value after so many milliseconds. For `increment`: when the key is new. */
  ttlMs?: number;
}

/** Keys and values that outlive a call. A hook starts afresh with every call: what it wants to remember goes here. */
export namespace state {
  function get(key: string): string | undefined;
  function set(key: string, value: string, options?: StateOptions): void;
  /** True when there was something to delete. */
  function _delete(key: string): boolean;
  export { _delete as delete };
  /** Adds atomically, a missing value counting as 0, and returns the new value. */
  export function increment(key: string, by?: number, options?: StateOptions): number;
  /** Sets the value only when it still is `expected` (`undefined`: absent). Tells whether it was set. */
  export function compareAndSwap(key: string, expected: string | undefined, value: string, options?: StateOptions): boolean;
  /** Keys that begin with the prefix, in byte order. */
  export function keys(prefix?: string): string[];
  export { get, set };
}

/** HTTP exchanges with the hosts on the hook's allow-list. Each waits for its response. */
export namespace http {
  type Headers = Record<string, string> | Iterable<readonly [string, string]>;
  interface Request {
    /** `GET` when left out. */
    method?: string;
    /** Absolute, `http` or `https`. */
    url: string;
    headers?: Headers;
    body?: string | Uint8Array;
  }
  interface Response {
    readonly status: number;
    /** A status from 200 to 299. */
    readonly ok: boolean;
    readonly headers: [string, string][];
    readonly body: Uint8Array;
    /** The first header of this name, whatever its case. */
    header(name: string): string | undefined;
    text(): string;
    json(): Json;
  }
  function send(request: Request): Response;
  function get(url: string, headers?: Headers): Response;
  function postJson(url: string, value: unknown, headers?: Headers): Response;
}

/** Questions to the host's language model, within the hook's budget. */
export namespace llm {
  interface Prompt {
    user: string;
    system?: string;
    /** The configured model when left out. */
    model?: string;
    /** Tokens of the answer at most. */
    maxTokens?: number;
  }
  /** Asks and waits for the answer. */
  function complete(prompt: string | Prompt): string;
}

/** Throw it where the event is not of the form this hook reads. Any other error is a failure of the hook itself. */
export class BadInput extends Error {}

export class StateError extends Error {
  /** `quota`: too long or too many; `not-a-number`: what `increment` met; `unavailable`: trying again may help. */
  readonly code: "quota" | "not-a-number" | "unavailable";
}

export class HttpError extends Error {
  /** `denied`: not on the allow-list; `timeout`: the hook's deadline came first. An error status is not an error. */
  readonly code: "denied" | "too-large" | "timeout" | "failed";
}

export class LlmError extends Error {
  /** `budget`: the hook's calls or tokens are used up. */
  readonly code: "budget" | "timeout" | "failed";
}
