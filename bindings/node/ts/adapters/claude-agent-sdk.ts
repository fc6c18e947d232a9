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
import { requireDialect } from "../tools";

export interface ClaudeOptions {
  /** Milliseconds that the SDK gives its hooks. Default: 60,000. */
  timeout?: number;
  /** Receives errors of hookbox itself that do not block. Default: `console.warn`. */
  log?: (line: string) => void;
}

const TIMEOUT = 60_000;

/**
 * `hooks` of the SDK's options: every event that has a hook. Matchers stay in the configuration. A hook set that is closed blocks,
 * except on `Stop`, `SubagentStop`, `TaskCompleted` and `TeammateIdle`, where the SDK ignores failures.
 *
 *     query({ prompt, options: { hooks: claudeHooks(hooks) } })
 */
export function claudeHooks(
  hooks: HookSet,
  options: ClaudeOptions = {},
): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
  requireDialect(hooks, "claude");
  const { timeout = TIMEOUT } = options;
  const decide: HookCallback = async (event, _toolUseID, { signal }) =>
    output(await hooks.decide(event, { timeout, bodyOnly: true, signal }), options) as HookJSONOutput;
  const matcher: HookCallbackMatcher = { hooks: [decide], timeout: timeout / 1000, onFailure: "block" };
  const events = hooks.events.filter((event) => event !== "canUseTool");
  return Object.fromEntries(events.map((event) => [event, [matcher]]));
}

/**
 * `canUseTool` of the SDK's options: the hooks of `PermissionRequest` decide. If none of them does, `otherwise` decides; without it
 * the call is denied. The SDK also runs the hooks of `PermissionRequest` that are among its `hooks`: use only one of both.
 */
export function claudeCanUseTool(hooks: HookSet, options: ClaudeOptions & { otherwise?: CanUseTool } = {}): CanUseTool {
  requireDialect(hooks, "claude");
  return async (toolName, input, context): Promise<PermissionResult | null> => {
    const event = {
      hook_event_name: "PermissionRequest",
      tool_name: toolName,
      tool_input: input,
      tool_use_id: context.toolUseID,
      permission_suggestions: context.suggestions ?? [],
      ...(context.agentID === undefined ? {} : { agent_id: context.agentID }),
      ...(context.mcpServer === undefined ? {} : { mcp_server: context.mcpServer }),
    };
    const { timeout = TIMEOUT, otherwise } = options;
    const response = await hooks.decide(event, { timeout, bodyOnly: true, signal: context.signal });
    const said = output(response, options);
    const decision = (said["hookSpecificOutput"] as { decision?: PermissionResult } | undefined)?.decision;
    if (response.blocks) {
      const denied = decision?.behavior === "deny" ? decision : undefined;
      const message = denied?.message || response.refusal || "denied by a hook";
      return { ...(response.outcome === "stop" ? { interrupt: true } : {}), ...denied, behavior: "deny", message };
    }
    if (decision?.behavior === "allow") return decision;
    if (otherwise) return otherwise(toolName, input, context);
    return { behavior: "deny", message: "no hook allows this call" };
  };
}

/** The output for the SDK. */
function output(response: Response, { log = console.warn }: ClaudeOptions): Record<string, unknown> {
  if (response.error) log(`hookbox: ${response.error.message}`);
  const said = response.output;
  if (typeof said === "object" && said !== null) return said as Record<string, unknown>;
  if (response.restricts) {
    throw new HookboxError("unsupported", response.undelivered ?? "the verdict cannot be given to the client");
  }
  return {};
}
