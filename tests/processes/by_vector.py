#!/usr/bin/env python3
"""The hook of one number in every vector: which vector a request is of, its `meta` says. What each says, stands in a file."""

import json
import sys

SAYS = json.load(open(sys.argv[1], encoding="utf-8"))

for line in sys.stdin:
    message = json.loads(line)
    if not message.get("id"):
        continue
    params = message.get("params") or {}
    meta = params.get("meta") or {}
    neutral = {"approved": True} if message["method"] == "hook.approve_tool" else {}
    result = SAYS.get(meta.get("TracePath"), neutral)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
