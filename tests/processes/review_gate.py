#!/usr/bin/env python3
"""A hook process as the specification shows it: it watches tools, and refuses what is dangerous."""

import json
import sys


def handle_before_tool(params: dict) -> dict:
    arguments = params.get("arguments") or {}
    text = arguments.get("text")
    if text == "":
        return {"action": "deny_tool", "reason": "invalid arguments"}
    if isinstance(text, str) and params.get("tool") == "echo_text":
        return {"action": "modify", "call": {"tool": "echo_text", "arguments": {"text": "modified " + text}}}
    return {"action": "continue"}


def handle_approve_tool(params: dict) -> dict:
    arguments = params.get("arguments") or {}
    if "rm -rf" in str(arguments.get("command", "")):
        return {"approved": False, "reason": "dangerous command, not to be run"}
    return {"approved": True}


def handle(method: str, params: dict) -> dict:
    if method == "hook.hello":
        return {"ok": True, "name": "python-review-gate"}
    if method == "hook.before_tool":
        return handle_before_tool(params)
    if method == "hook.approve_tool":
        return handle_approve_tool(params)
    if method in ("hook.before_llm", "hook.after_llm", "hook.after_tool"):
        return {"action": "continue"}
    raise KeyError(f"method not found: {method}")


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        method, params, message_id = message["method"], message.get("params") or {}, message.get("id", 0)
        if not message_id:
            kind = params.get("Kind", params.get("kind"))
            print(f"observed {kind}", file=sys.stderr, flush=True)
            continue
        reply = {"jsonrpc": "2.0", "id": message_id}
        try:
            reply["result"] = handle(method, params)
        except Exception as error:
            reply["error"] = {"code": -32000, "message": str(error)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
