// Refuses shell commands that destroy files or devices, as command-guard does.
import { deny } from "@hookbox/guest";

import { NESTING, find } from "./danger.js";

/** @type {import("@hookbox/guest").OnPreToolUse} */
export const onPreToolUse = guard;

// The same check for permission requests. Under picoclaw a failing hook denies in `approve_tool` but not in
// `before_tool`.
/** @type {import("@hookbox/guest").OnPermissionRequest} */
export const onPermissionRequest = guard;

/**
 * Checks the string `command` of any tool (Bash, exec, …).
 * @param {import("@hookbox/guest").ToolCall} call
 */
function guard(call) {
  const command = call.input?.command;
  const why = typeof command === "string" ? find(command, NESTING) : undefined;
  if (why !== undefined) return deny(`${why} is not allowed here`);
}
