// A hook set in the Claude Agent SDK. The configuration's dialect is `claude`.
import type {
  CanUseTool,
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookJSONOutput,
  PermissionResult,
} from "@anthropic-ai/claude-agent-sdk" with { "resolution-mode": "import" };

import { HookboxError } from "../errors";
import type { Response } from "../response";
import type { HookSet } from "../runtime";

export interface ClaudeOptions {
  /** Milliseconds that the SDK gives its hooks. Default: 60,000. */
  timeout?: number;
  /** Receives errors of hookbox itself that block nothing; `console.warn` by default. */
  log?: (line: string) => void;
}

const TIMEOUT = 60_000;

/**
 * `hooks` of the SDK's options: every event that the hook set has a hook for. Matchers stay in the configuration. A hook set that
 * cannot be asked any more blocks.
 *
 *     query({ prompt, options: { hooks: claudeHooks(hooks) } })
 */
export function claudeHooks(
  hooks: HookSet,
  options: ClaudeOptions = {},
): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
  const { timeout = TIMEOUT } = options;
  const decide: HookCallback = async (event, _toolUseID, { signal }) =>
    output(await hooks.decide(event, { timeout, bodyOnly: true, signal }), options) as HookJSONOutput;
  const matcher: HookCallbackMatcher = { hooks: [decide], timeout: timeout / 1000, onFailure: "block" };
  const events = hooks.events.filter((event) => event !== "canUseTool");
  return Object.fromEntries(events.map((event) => [event, [matcher]]));
}

/**
 * `canUseTool` of the SDK's options: the hooks of `PermissionRequest` answer. Where none of them decides, `otherwise` does; without it
 * the call is denied. The SDK also asks the hooks of `PermissionRequest` that are among its `hooks`: give it the event in one of both
 * places.
 */
export function claudeCanUseTool(hooks: HookSet, options: ClaudeOptions & { otherwise?: CanUseTool } = {}): CanUseTool {
  return async (toolName, input, context): Promise<PermissionResult | null> => {
    const event = {
      hook_event_name: "PermissionRequest",
      tool_name: toolName,
      tool_input: input,
      tool_use_id: context.toolUseID,
      permission_suggestions: context.suggestions ?? [],
    };
    const { timeout = TIMEOUT, otherwise } = options;
    const said = output(await hooks.decide(event, { timeout, bodyOnly: true, signal: context.signal }), options);
    const decision = (said["hookSpecificOutput"] as { decision?: PermissionResult } | undefined)?.decision;
    if (decision?.behavior === "allow") return decision;
    if (decision?.behavior === "deny") return { ...decision, message: decision.message || "denied by a hook" };
    if (otherwise) return otherwise(toolName, input, context);
    return { behavior: "deny", message: "no hook allows this call" };
  };
}

/** What the SDK obeys. */
function output(response: Response, { log = console.warn }: ClaudeOptions): Record<string, unknown> {
  if (response.error) log(`hookbox: ${response.error.message}`);
  const said = response.output;
  if (typeof said === "object" && said !== null) return said as Record<string, unknown>;
  if (response.restricts) {
    throw new HookboxError("unsupported", response.undelivered ?? "the verdict cannot be given to the client");
  }
  return {};
}
