#!/usr/bin/env python3
"""The specification's tool of a plugin's own: `before_llm` tells the model of it, `before_tool` is it."""

import json
import sys


def handle_before_llm(params: dict) -> dict:
    tools = params.get("tools", [])
    tools.append({
        "type": "function",
        "function": {
            "name": "my_plugin_tool",
            "description": "A tool of the plugin's own",
            "parameters": {
                "type": "object",
                "properties": {"input": {"type": "string", "description": "What to work on"}},
                "required": ["input"],
            },
        },
    })
    return {
        "action": "modify",
        "request": {
            "model": params["model"],
            "messages": params["messages"],
            "tools": tools,
            "options": params.get("options", {}),
        },
    }


def handle_before_tool(params: dict) -> dict:
    tool = params.get("tool", "")
    if tool == "my_plugin_tool":
        args = params.get("arguments", {})
        input_text = args.get("input", "")
        return {
            "action": "respond",
            "result": {"for_llm": f"The plugin ran, input: {input_text}", "silent": False, "is_error": False},
        }
    return {"action": "continue"}


for line in sys.stdin:
    message = json.loads(line)
    if not message.get("id"):
        continue
    params = message.get("params") or {}
    if message["method"] == "hook.hello":
        result = {"ok": True, "name": "plugin-tool"}
    elif message["method"] == "hook.before_llm":
        result = handle_before_llm(params)
    elif message["method"] == "hook.before_tool":
        result = handle_before_tool(params)
    else:
        result = {"action": "continue"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
