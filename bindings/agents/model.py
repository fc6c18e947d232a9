"""A stand-in for a model: it makes the given tool calls, one after the other, and then repeats their results.

    model.py TOOL INPUT_JSON [TOOL INPUT_JSON...]

It prints its address, and has the part of Anthropic's and OpenAI's interfaces that agents need. With it a real agent runs without an
account.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CALLS = list(zip(sys.argv[1::2], map(json.loads, sys.argv[2::2])))
SUBAGENT = "Only answer."
"""The prompt of a subagent, which makes no calls."""


def results(messages: list[Any]) -> list[str]:
    """The results of tool calls, as the agent gives them."""
    blocks = [block for message in messages if isinstance(message.get("content"), list) for block in message["content"]]
    contents = [block.get("content") for block in blocks if block.get("type") == "tool_result"]
    return [content if isinstance(content, str) else json.dumps(content) for content in contents]


def anthropic(request: dict[str, Any]) -> dict[str, Any]:
    told = results(request["messages"])
    offered = [tool.get("name") for tool in request.get("tools", [])]
    content: dict[str, Any] = {"type": "text", "text": "I was told: " + " | ".join(told)}
    is_subagent = SUBAGENT in json.dumps(request["messages"][:1])
    if len(told) < len(CALLS) and CALLS[len(told)][0] in offered and not is_subagent:
        name, tool_input = CALLS[len(told)]
        content = {"type": "tool_use", "id": f"toolu_{len(told)}", "name": name, "input": tool_input}
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [content],
        "stop_reason": "end_turn" if content["type"] == "text" else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def anthropic_stream(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = message["content"][0]
    is_text = content["type"] == "text"
    empty = {**content, "text": ""} if is_text else {**content, "input": {}}
    delta = {"type": "text_delta", "text": content["text"]} if is_text else {
        "type": "input_json_delta",
        "partial_json": json.dumps(content["input"]),
    }
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def openai(request: dict[str, Any]) -> dict[str, Any]:
    told = [message["content"] for message in request["messages"] if message["role"] == "tool"]
    said: dict[str, Any] = {"role": "assistant", "content": "I was told: " + " | ".join(map(str, told))}
    calls = CALLS[len(told) : len(told) + 1]
    for name, tool_input in calls:
        function = {"name": name, "arguments": json.dumps(tool_input)}
        call = {"id": f"call_{len(told)}", "type": "function", "function": function}
        said = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or "{}")
        path = self.path.split("?")[0]
        if path.endswith("/chat/completions"):
            self.answer(json.dumps(openai(request)), "application/json")
        elif not path.endswith("/v1/messages"):
            self.answer('{"input_tokens": 1}', "application/json")
        elif request.get("stream"):
            events = anthropic_stream(anthropic(request))
            text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            self.answer(text, "text/event-stream")
        else:
            self.answer(json.dumps(anthropic(request)), "application/json")

    def do_GET(self) -> None:
        self.answer("{}", "application/json")

    def answer(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
