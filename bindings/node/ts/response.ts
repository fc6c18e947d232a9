import type { Report } from "./types";

interface Fields {
  stdout: string;
  isText: boolean;
  stderr: string | null;
  quiet: boolean;
  exitCode: number;
  outcome: string;
  blocks: boolean;
  restricts: boolean;
  undelivered: string | null;
  refusal: string | null;
  replacement: { value: unknown } | null;
  error: { kind: "event" | "config" | "internal"; message: string } | null;
}

/** The response to one event, also after a failure. */
export class Response implements Fields {
  /** The text for the client; empty: no output. */
  readonly stdout: string;
  /** The text is plain text, and not JSON. */
  readonly isText: boolean;
  /** The text for the client on stderr: the reason of a block, or feedback for the model. */
  readonly stderr: string | null;
  /** Nothing but `stderr` may be written to stderr: the client reads it. */
  readonly quiet: boolean;
  /** The exit code of a program that is the client's hook. */
  readonly exitCode: number;
  /** `allow`, `deny`, `ask`, `defer`, `skip`, `respond`, `stop`, `none`, `nothing` or `failed`. */
  readonly outcome: string;
  /** True if the verdict blocks. */
  readonly blocks: boolean;
  /** True if the verdict blocks, asks the user, or rewrites. */
  readonly restricts: boolean;
  /** The reason to block if the text cannot be given to the client; `null`: it may go on. */
  readonly undelivered: string | null;
  /** The reason not to perform the action with the event's own value, for a program that cannot ask a user. */
  readonly refusal: string | null;
  /**
   * The value to use in place of the event's own, such as another input for the tool. A program that can use it does not obey
   * `refusal` then.
   */
  readonly replacement: { readonly value: unknown } | null;
  /** The error of hookbox itself, if the client gets that instead of a verdict. */
  readonly error: Fields["error"];
  /** The report, as JSON until it is read. */
  #report: string | Report | null;

  private constructor(fields: Fields, report: string) {
    this.#report = report;
    this.stdout = fields.stdout;
    this.isText = fields.isText;
    this.stderr = fields.stderr;
    this.quiet = fields.quiet;
    this.exitCode = fields.exitCode;
    this.outcome = fields.outcome;
    this.blocks = fields.blocks;
    this.restricts = fields.restricts;
    this.undelivered = fields.undelivered;
    this.refusal = fields.refusal;
    this.replacement = fields.replacement;
    this.error = fields.error;
  }

  /** Reads a response as the addon writes it. @internal */
  static read(lines: string): Response {
    const end = lines.indexOf("\n");
    return new Response(JSON.parse(lines.slice(0, end)) as Fields, lines.slice(end + 1));
  }

  /** Each hook's part and the sentence that decided; `null`: no hook ran. */
  get report(): Report | null {
    if (typeof this.#report === "string") this.#report = JSON.parse(this.#report) as Report | null;
    return this.#report;
  }

  /** All fields, for `JSON.stringify`. */
  toJSON(): Fields & { report: Report | null } {
    return { ...(this as Fields), report: this.report };
  }

  /** The text as a value: JSON read, plain text as a string, nothing as `null`. */
  get output(): unknown {
    if (this.stdout === "") return null;
    return this.isText ? this.stdout : JSON.parse(this.stdout);
  }
}
