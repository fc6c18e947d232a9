// Between the promises of JavaScript and the messages of the addon.
import type { NativeHook, NativeRuntime } from "../native";
import { addon, compiler } from "./addon";
import { HookboxError } from "./errors";
import type { Hook, RuntimeOptions } from "./types";

/** The kinds of messages, as in `src/post.rs`. */
const Kind = { done: 0, failed: 1, ask: 2, cancel: 3, release: 4 } as const;

interface Waiting {
  resolve: (text: string) => void;
  reject: (error: unknown) => void;
}

type Message = [number: number, kind: number, of: number, text: string];

/** Messages that are received in one turn of the event loop, so that timers and sockets wait less than a millisecond. */
const AT_ONCE = 32;

/** The longest that a timer waits. */
const FOR_GOOD = 2 ** 31 - 1;

/** The calls of one runtime. The addon keeps no process alive; this does, as long as a caller waits. */
export class Calls {
  /** Those with a call that is waited for, which nothing else may hold. */
  static readonly #busy = new Set<Calls>();

  readonly native: NativeRuntime;
  readonly #waiting = new Map<number, Waiting>();
  readonly #functions = new Map<number, Hook["run"]>();
  readonly #asked = new Map<number, AbortController>();
  /** Messages in the order in which the addon sent them. */
  #messages: Message[] = [];
  #nextCall = 0;
  #nextFunction = 0;
  #alive: NodeJS.Timeout | undefined;

  constructor(options: RuntimeOptions) {
    // Weak, because the addon holds what it posts to, and this holds the addon.
    const self = new WeakRef(this);
    const post = (...message: Message) => {
      const calls = self.deref();
      if (calls) calls.#queue(message);
    };
    this.native = plain(() => addon.NativeRuntime.open(JSON.stringify(options), compiler, post));
  }

  /** Starts a call, and waits for its result. */
  call(start: (number: number) => void, signal?: AbortSignal): Promise<{ number: number; text: string }> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const number = this.#nextCall;
      this.#nextCall = (number + 1) >>> 0;
      plain(() => start(number));
      const abort = () => {
        this.native.cancel(number);
        this.#end(number)?.reject(signal?.reason);
      };
      const settled = () => signal?.removeEventListener("abort", abort);
      signal?.addEventListener("abort", abort, { once: true });
      this.#begin(number, {
        resolve: (text) => (settled(), resolve({ number, text })),
        reject: (error) => (settled(), reject(error)),
      });
    });
  }

  /** Hooks as the addon takes them. Their functions are kept until it says that it asks them no more. */
  hooks(hooks: readonly Hook[]): NativeHook[] {
    return hooks.map(({ run, ...described }) => {
      const { timeout, name = run.name || undefined, ...rest } = described;
      const entry = { ...rest, name, timeout: timeout === undefined ? undefined : timeout / 1000 };
      const number = this.#nextFunction++;
      this.#functions.set(number, run);
      return { entry: JSON.stringify(entry), function: number };
    });
  }

  #begin(number: number, waiting: Waiting): void {
    this.#waiting.set(number, waiting);
    this.#alive ??= setInterval(() => {}, FOR_GOOD);
    Calls.#busy.add(this);
  }

  #end(number: number): Waiting | undefined {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (this.#waiting.size === 0) {
      clearInterval(this.#alive);
      this.#alive = undefined;
      Calls.#busy.delete(this);
    }
    return waiting;
  }

  /**
   * Queues a message for the next turn of the loop. The addon delivers up to 1000 messages in a turn, also those that the callers cause
   * which continue in it.
   */
  #queue(message: Message): void {
    if (this.#messages.push(message) === 1) setImmediate(() => this.#receiveSome());
  }

  #receiveSome(): void {
    const messages = this.#messages.splice(0, AT_ONCE);
    if (this.#messages.length > 0) setImmediate(() => this.#receiveSome());
    for (const message of messages) this.#receive(message);
  }

  #receive([number, kind, of, text]: Message): void {
    switch (kind) {
      case Kind.done:
        return this.#end(number)?.resolve(text);
      case Kind.failed:
        return this.#end(number)?.reject(HookboxError.read(text));
      case Kind.ask:
        return void this.#ask(number, of, text);
      case Kind.cancel:
        this.#asked.get(number)?.abort(new HookboxError("closed", "the call of this hook was cancelled"));
        return;
      case Kind.release:
        this.#functions.delete(of);
    }
  }

  /** Asks a function, and gives the addon its answer, or why it has no answer. */
  async #ask(question: number, of: number, event: string): Promise<void> {
    const controller = new AbortController();
    this.#asked.set(question, controller);
    try {
      const output = await this.#functions.get(of)?.(JSON.parse(event), { signal: controller.signal });
      this.native.answer(question, JSON.stringify(output ?? null) ?? "no JSON");
    } catch (error) {
      this.native.refuse(question, why(error));
    } finally {
      this.#asked.delete(question);
    }
  }
}

/** Calls the addon; what it throws has a code. */
export function plain<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw HookboxError.of(error);
  }
}

function why(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "it threw what has no text";
  }
}
