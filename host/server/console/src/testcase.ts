// A verdict as a case for `hookbox test`.
import type { VerdictRecord } from "./types";

/** JSON is YAML, whatever is in a text. */
const yaml = (value: unknown) => JSON.stringify(value);

/** Dialects whose events have their name under this key. */
const NAMED = /^(claude|codebuddy|blade|codex|gemini|copilot)/;

export function testCase(verdict: VerdictRecord): string {
  const { event, tool, dialect } = verdict;
  const named = NAMED.test(dialect);
  const skeleton: Record<string, unknown> = named ? { hook_event_name: event, session_id: "s" } : {};
  if (tool) Object.assign(skeleton, { tool_name: tool, tool_input: {} });
  const lines = [
    `- name: ${yaml(`${verdict.verdict} ${[event, tool].filter(Boolean).join(" ")}`)}`,
    "  # A record has no content of the event: put its JSON here.",
    `  # Its SHA-256 is ${verdict.eventDigest}`,
    `  event: ${yaml(skeleton)}`,
    ...(named || !event ? [] : [`  eventName: ${yaml(event)}`]),
    `  dialect: ${yaml(dialect)}`,
    "  expect:",
    `    decision: ${yaml(verdict.verdict === "nothing" ? "none" : verdict.verdict)}`,
    ...(verdict.output === undefined ? [] : [`    output: ${yaml(verdict.output)}`]),
  ];
  return `${lines.join("\n")}\n`;
}
