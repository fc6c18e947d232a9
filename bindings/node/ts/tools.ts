// Tool calls as events, for SDKs that run tools in this process.
import { HookboxError } from "./errors";
import type { HookSet } from "./runtime";

/** Throws unless the hook set's configuration is of this dialect, in any profile: its events could not be read. */
export function requireDialect(hooks: HookSet, dialect: string): void {
  const [found] = hooks.dialect.split("@");
  if (found === dialect) return;
  const message = `this adapter needs a configuration of the dialect ${dialect}, not ${hooks.dialect}: load it with that \`dialect\``;
  throw new HookboxError("options", message);
}

/** Warns about hooks of events that the SDK does not have. */
export function warnOfOthers(hooks: HookSet, asked: readonly string[], log: (line: string) => void): void {
  const others = hooks.events.filter((event) => !asked.includes(event));
  if (others.length > 0) log(`hookbox: this SDK has no event for ${others.join(", ")}: their hooks do not run`);
}

/** A tool call as an event of the dialect `claude`. Hooks read an object as input; anything else reaches them as text. */
export function toolEvent(name: string, tool: string, input: unknown, id: string | undefined): Record<string, unknown> {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const toolInput = isObject ? input : { arguments: typeof input === "string" ? input : JSON.stringify(input) };
  return { hook_event_name: name, cwd: process.cwd(), tool_name: tool, tool_input: toolInput, tool_use_id: id };
}
