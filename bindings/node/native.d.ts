// Written by `just bindings-types` from the addon.

/** The hooks of one configuration. */
export declare class NativeHookSet {
  /** The dialect, with its profile. */
  get dialect(): string
  /** The tenant. */
  get tenant(): string
  /** Wire names of the events that have a hook. */
  get events(): Array<string>
  /** Warnings about the configuration, as JSON. */
  get warnings(): string
  /** Decides on an event; the response as JSON, and its report on a second line. */
  decide(call: number, event: string | Uint8Array, request: NativeRequest): void
  /** Decides on an event while this thread waits; the response as [`NativeHookSet::decide`] has it. */
  decideSync(event: string | Uint8Array, request: NativeRequest): string
  /** Explains an event; the report as JSON. */
  explain(call: number, event: string | Uint8Array, request: NativeRequest): void
  /** Checks every hook; findings as JSON. */
  check(call: number): void
  /** Ends the work of the hooks, in at most this many milliseconds. */
  close(call: number, grace: number): void
}

/** The parts that all hook sets of a process share. */
export declare class NativeRuntime {
  /** Opens a runtime with options as JSON and the program that compiles components. `post` receives every message. */
  static open(options: string, compiler: string | undefined | null, post: (arg0: number, arg1: number, arg2: number, arg3: string) => void): NativeRuntime
  /** Loads a hook set. [`NativeRuntime::take`] returns it after the call. */
  load(call: number, source: NativeSource, options: string, hooks: Array<NativeHook>): void
  /** Takes the hook set that a call has loaded. */
  take(call: number): NativeHookSet | null
  /** Checks a configuration; findings as JSON. */
  check(call: number, source: NativeSource, options: string): void
  /** Ends a call. No message about it follows. */
  cancel(call: number): void
  /** Answers a question with the output's JSON. */
  answer(question: number, output: string): void
  /** Gives the reason why a question has no answer. */
  refuse(question: number, why: string): void
  /** Refuses later calls. */
  close(): void
}

/** A hook of the host: its description as JSON, and the number of its function. */
export interface NativeHook {
  /** The description. */
  entry: string
  /** The number. */
  function: number
}

/** Facts about one event in addition to its JSON. */
export interface NativeRequest {
  /** The event's name, for dialects whose JSON does not carry it. */
  eventName?: string
  /** The client's timeout, in milliseconds. */
  timeout?: number
  /** True if the client sees only the text. */
  bodyOnly?: boolean
}

/** A configuration: a file, or a text with the folder of its relative paths. */
export interface NativeSource {
  /** The file. */
  file?: string
  /** The text. */
  text?: string
  /** The folder. */
  folder?: string
}
