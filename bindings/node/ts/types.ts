/** An event: the client's JSON as text or bytes, or the object that it is. */
export type Event = string | Uint8Array | object;

/** What a failed hook counts as. */
export type Policy = "ignore" | "block" | "ask";

/** Whether a hook decides, or only runs and is recorded. */
export type Mode = "enforce" | "monitor";

/** What a hook may decide: a preset, or in detail, where what is not given is not granted. */
export type Authority =
  | "gate"
  | "rewriter"
  | "trusted"
  | {
      decide?: ("deny" | "ask" | "allow" | "skip" | "respond" | "abort")[];
      rewrite?: "all" | string[];
      context?: boolean;
      systemMessage?: boolean;
      env?: string[];
    };

/** What no hook of a tenant may exceed; each as in a configuration. */
export interface Ceiling {
  authority?: Authority;
  permissions?: Record<string, unknown>;
  limits?: Record<string, number>;
}

/** One thing that is wrong with a configuration. */
export interface Finding {
  /** `error`: the configuration is not loaded. `warning`: something in it has no effect. */
  severity: "error" | "warning";
  file: string;
  /** JSON pointer into the file; empty for the whole of it. */
  pointer: string;
  /** From 1, where it is known. */
  line: number | null;
  message: string;
  /** What to do. */
  help: string | null;
}

/** What was taken out or changed of what a hook said. */
export interface Note {
  kind: string;
  text: string;
}

/** One hook's part in a report. */
export interface HookReport {
  hook: string;
  pointer: string;
  /** What it said, or what became of it. */
  verdict: string;
  mode?: Mode;
  timeUs?: number;
  fuel?: number;
  componentDigest?: string;
  /** The publisher of the component, if their signature was verified. */
  publisher?: string;
  reason?: string;
  /** Why it failed, as a word. */
  cause?: string;
  /** Why it failed, for people. */
  message?: string;
  /** What its failure counted as. */
  countedAs?: string;
  notes?: Note[];
}

/** Which hooks an event met, what each said, and the sentence that decided. */
export interface Report {
  event: string;
  tool: string | null;
  dialect: string;
  hooks: HookReport[];
  verdict: string;
  reason: string | null;
  /** The verdict if monitored hooks were enforced. */
  wouldBe?: string;
  /** The sentence of the specification that decided. */
  clause: string;
  notes: Note[];
  output: unknown;
}

/** A function in the chain of hooks, after those of the configuration, with all that a hook of a configuration has. */
export interface Hook {
  /** The wire name of its event; `canUseTool` for the permission callback. */
  event: string;
  /**
   * Takes the event and returns the dialect's output, or nothing for no output. A function that throws, takes longer than its `timeout`
   * or returns anything else is a failed hook. `signal` is aborted when the call is cancelled.
   */
  run: (event: any, context: { signal: AbortSignal }) => object | null | undefined | void | Promise<object | null | undefined | void>;
  /** The events, by a pattern. Default: all. */
  matcher?: string;
  /** Its name in reports. Default: that of the function. */
  name?: string;
  /** Milliseconds. Default: 60,000. */
  timeout?: number;
  /** The result of a failure. Default: the dialect's own. */
  onFailure?: Policy;
  /** The result of a timeout. Default: as `onFailure`. */
  onTimeout?: Policy;
  /** Its authority over decisions and rewrites. Default: all. */
  authority?: Authority;
  /** `monitor`: it runs and is recorded, but decides nothing. Default: `enforce`. */
  mode?: Mode;
}

/** Options of {@link Runtime.open}. Each has a default. */
export interface RuntimeOptions {
  /** Compiles components in this process, which a component made for that can exhaust. */
  compileInProcess?: boolean;
  /** What compiling one component may take in a process of its own. */
  compileLimits?: { seconds?: number; memoryMiB?: number };
  /** The folder of compiled components. Default: the user's cache folder. */
  cacheDir?: string;
  /** Components that run at once. Default: 16. */
  maxInstances?: number;
  /** The largest `memoryMiB` that a hook may have. Default: 1024. */
  maxMemoryMiB?: number;
  /** The SQLite file of all state. Default: the one that a configuration names, or else the user's. */
  stateFile?: string;
  /** Threads that run components. Default: one for each processor. */
  threads?: number;
}

/** Options of {@link Runtime.load}. */
export interface LoadOptions {
  /** Functions of this program as hooks, after those of the configuration. */
  hooks?: readonly Hook[];
  /** The folder that relative paths of a configuration are relative to that is no file. */
  folder?: string;
  /** The dialect, before any that the configuration names. */
  dialect?: string;
  /** Failures block, regardless of the configuration. */
  failClosed?: boolean;
  /** Loads hooks when an event first needs them. One that cannot be loaded then is a failed hook. */
  lazy?: boolean;
  /** The tenant, whose state is kept apart from that of others. */
  tenant?: string;
  /** What no hook may exceed. */
  ceiling?: Ceiling;
  /** Types of handlers that the ceiling allows beside `wasm`. */
  handlers?: string[];
  /** Bytes of state that all hooks of the tenant may keep. */
  stateBytes?: number;
  /** Ends the call. */
  signal?: AbortSignal;
}

/** What is said of one event beside its JSON. */
export interface DecideOptions {
  /** The event's name, for dialects whose JSON does not carry it. */
  eventName?: string;
  /** The client's timeout in milliseconds. Default: as in the configuration. */
  timeout?: number;
  /** The client sees the text alone, and neither stderr nor an exit code: a block is always in the text then. */
  bodyOnly?: boolean;
  /** Ends the call. */
  signal?: AbortSignal;
}
