import type { Finding } from "./types";

/** The kind of an error, which stays the same from version to version. */
export type Code =
  | "options"
  | "config"
  | "hook"
  | "event"
  | "closed"
  | "forked"
  | "compiler"
  | "unsupported"
  | "system";

/** An error of hookbox. What hooks do wrong is never one: it is settled in a {@link Response}. */
export class HookboxError extends Error {
  override readonly name = "HookboxError";
  /** The kind. */
  readonly code: Code;
  /** Everything that is wrong with the configuration, where the error is about one. */
  readonly diagnostics: readonly Finding[];

  constructor(code: Code, message: string, diagnostics: readonly Finding[] = []) {
    super(message);
    this.code = code;
    this.diagnostics = diagnostics;
  }

  /** Reads an error as the addon writes it. @internal */
  static read(text: string): HookboxError {
    const { code, message, details } = JSON.parse(text) as {
      code: Code;
      message: string;
      details: { diagnostics?: Finding[] };
    };
    return new HookboxError(code, message, details.diagnostics);
  }

  /** What a call of the addon threw. @internal */
  static of(thrown: unknown): unknown {
    try {
      return HookboxError.read((thrown as Error).message);
    } catch {
      return thrown;
    }
  }
}
