import { fileURLToPath } from "node:url";

import type { NativeHookSet, NativeRequest, NativeSource } from "../native";
import { Calls, plain } from "./calls";
import { HookboxError } from "./errors";
import { Response } from "./response";
import type { DecideOptions, Event, Finding, LoadOptions, Report, RuntimeOptions } from "./types";

/** A configuration: the path of its file, or the object that it is. */
export type Source = string | URL | { [key: string]: unknown };

/** Milliseconds that the hooks of a set get to end. */
const GRACE = 2000;

/**
 * What all hook sets of a process share: the engine, compiled components, the state store, threads. One per process (or worker
 * thread).
 */
export class Runtime implements AsyncDisposable {
  readonly #calls: Calls;

  private constructor(options: RuntimeOptions) {
    this.#calls = new Calls(options);
  }

  /**
   * Opens a runtime. It costs nothing until the first component is loaded. Components are compiled in a separate process,
   * which a component made to exhaust a compiler cannot leave.
   */
  static async open(options: RuntimeOptions = {}): Promise<Runtime> {
    return new Runtime(options);
  }

  /**
   * Loads a configuration with every hook. Throws a {@link HookboxError} where the configuration or a hook cannot be used. With a
   * `ceiling` no hook may exceed it, and only components run, and `handlers` of these types.
   */
  async load(config: Source, options: LoadOptions = {}): Promise<HookSet> {
    const { hooks = [], folder, signal, ...rest } = options;
    const { native } = this.#calls;
    const start = (call: number) =>
      native.load(call, source(config, folder), JSON.stringify(rest), this.#calls.hooks(hooks));
    const { number } = await this.#calls.call(start, signal);
    const loaded = native.take(number);
    if (!loaded) throw new HookboxError("closed", "the hook set is gone");
    return new HookSet(loaded, this.#calls);
  }

  /** Finds everything that is wrong with a configuration and its hooks. */
  async check(config: Source, options: Pick<LoadOptions, "folder" | "dialect" | "signal"> = {}): Promise<Finding[]> {
    const { folder, signal, ...rest } = options;
    const start = (call: number) => this.#calls.native.check(call, source(config, folder), JSON.stringify(rest));
    const { text } = await this.#calls.call(start, signal);
    return JSON.parse(text) as Finding[];
  }

  /** Refuses new calls. Decisions in progress are finished. */
  async close(): Promise<void> {
    this.#calls.native.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The hooks of one configuration, ready to be asked. Any number of events may be asked about at once. */
export class HookSet implements AsyncDisposable {
  readonly #native: NativeHookSet;
  readonly #calls: Calls;

  /** @internal */
  constructor(native: NativeHookSet, calls: Calls) {
    this.#native = native;
    this.#calls = calls;
  }

  /** The dialect, with its profile. */
  get dialect(): string {
    return this.#native.dialect;
  }

  /** The tenant. */
  get tenant(): string {
    return this.#native.tenant;
  }

  /** Wire names of the events that some hook is for. */
  get events(): string[] {
    return this.#native.events;
  }

  /** What in the configuration has no effect. */
  get warnings(): Finding[] {
    return JSON.parse(this.#native.warnings) as Finding[];
  }

  /** Decides on one event. What is wrong with the event or with hooks is settled in the response. */
  async decide(event: Event, options: DecideOptions = {}): Promise<Response> {
    const start = (call: number) => this.#native.decide(call, wire(event), request(options));
    const { text } = await this.#calls.call(start, options.signal);
    return Response.read(text);
  }

  /**
   * As {@link HookSet.decide}, while the thread waits. Throws where a hook is a function of this program, which cannot run
   * meanwhile.
   */
  decideSync(event: Event, options: Omit<DecideOptions, "signal"> = {}): Response {
    return Response.read(plain(() => this.#native.decideSync(wire(event), request(options))));
  }

  /** Decides on one event, and tells which hooks it met, what each said and the sentence that decided. */
  async explain(event: Event, options: Pick<DecideOptions, "eventName" | "signal"> = {}): Promise<Report> {
    const start = (call: number) => this.#native.explain(call, wire(event), request(options));
    const { text } = await this.#calls.call(start, options.signal);
    return JSON.parse(text) as Report;
  }

  /** Reports each hook that cannot be loaded or does not handle its event. */
  async check(): Promise<Finding[]> {
    const { text } = await this.#calls.call((call) => this.#native.check(call));
    return JSON.parse(text) as Finding[];
  }

  /** Ends what the hooks run, processes for example, in `grace` milliseconds at most. No event may come after. */
  async close(grace: number = GRACE): Promise<void> {
    await this.#calls.call((call) => this.#native.close(call, grace));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function source(config: Source, folder: string | undefined): NativeSource {
  if (typeof config === "string") return { file: config };
  if (config instanceof URL) return { file: fileURLToPath(config) };
  return { text: JSON.stringify(config), ...(folder === undefined ? {} : { folder }) };
}

function wire(event: Event): string | Uint8Array {
  return typeof event === "string" || event instanceof Uint8Array ? event : JSON.stringify(event);
}

function request({ eventName, timeout, bodyOnly }: DecideOptions): NativeRequest {
  return {
    ...(eventName === undefined ? {} : { eventName }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(bodyOnly === undefined ? {} : { bodyOnly }),
  };
}
