#!/usr/bin/env python3
"""A hook process that does not keep to the protocol. What it does wrong is its first argument, or the `text` of a call."""

import json
import os
import signal
import subprocess
import sys
import time


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def reply(message_id, result: dict) -> None:
    say(json.dumps({"jsonrpc": "2.0", "id": message_id, "result": result}) + "\n")


def deny(message_id, reason: str) -> None:
    reply(message_id, {"action": "deny_tool", "reason": reason})


def lie(how: str, message_id: int) -> None:
    if how == "wrong id":
        deny(message_id + 1000, "for nobody")
        deny(str(message_id), "for nobody")
        say('{"jsonrpc":"2.0","result":{}}\n')
        say('{"jsonrpc":"2.0","id":7,"method":"host.shell","params":{}}\n')
        deny(message_id, "at last")
    elif how == "twice":
        deny(message_id, "once")
        deny(message_id, "twice")
    elif how == "chatter":
        say("Loading model...\n\n\x1b[31mnot json\x1b[0m\n")
        deny(message_id, "after chatter")
    elif how == "half a line":
        say('{"jsonrpc":"2.0","id":%d,"result":{"action":"deny\n' % message_id)
    elif how == "half a line and nothing more":
        say('{"jsonrpc":"2.0","id":%d,"result":{"action":"deny' % message_id)
    elif how == "half a line and gone":
        say('{"jsonrpc":"2.0","id":%d,"result":{"action":"deny' % message_id)
        os.close(1)
        # Nothing can be asked of it any more, though it still lives.
        time.sleep(0.05)
        os._exit(0)
    elif how == "no newline and gone":
        say(json.dumps({"jsonrpc": "2.0", "id": message_id, "result": {"action": "deny_tool", "reason": "last words"}}))
        os._exit(0)
    elif how == "two keys":
        say('{"jsonrpc":"2.0","id":%d,"result":{"action":"deny_tool","action":"continue"}}\n' % message_id)
    elif how == "a long line":
        deny(message_id, "x" * (10 << 20))
    elif how == "a line without end":
        while True:
            say("x" * (1 << 16))
    elif how == "no result":
        say('{"jsonrpc":"2.0","id":%d}\n' % message_id)
    elif how == "a list":
        say('{"jsonrpc":"2.0","id":%d,"result":[]}\n' % message_id)
    elif how == "an error":
        say('{"jsonrpc":"2.0","id":%d,"error":{"code":-32000,"message":"disk full"}}\n' % message_id)
    elif how == "exit":
        os._exit(3)
    elif how == "a signal":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "closes its stdout":
        os.close(1)
        time.sleep(60)
    elif how == "closes its stdin":
        os.close(0)
        time.sleep(60)
    elif how == "forks":
        child = subprocess.Popen(["sleep", "1000"])
        with open("forked", "w") as file:
            file.write(str(child.pid))
        os._exit(0)
    elif how == "never":
        pass
    elif how == "waits":
        with open("begun", "w"):
            pass
        while not os.path.exists("may"):
            time.sleep(0.01)
        deny(message_id, "at last")
    elif how == "pid":
        deny(message_id, str(os.getpid()))
    elif how == "environment":
        deny(message_id, json.dumps(dict(os.environ)))
    elif how == "stderr":
        sys.stderr.write("one\n" + "y" * 100_000 + "\ntwo\n")
        sys.stderr.flush()
        deny(message_id, "told")
    else:
        deny(message_id, how)


late = []
for line in sys.stdin:
    message = json.loads(line)
    message_id = message.get("id")
    if message["method"] == "hook.hello":
        with open("hello", "a") as file:
            file.write(json.dumps(message["params"]) + "\n")
        how = sys.argv[1] if len(sys.argv) > 1 else ""
        if how == "no hello":
            time.sleep(60)
        if how == "refuses":
            reply(message_id, {"ok": False})
        elif how == "hello fails":
            lie("an error", message_id)
        elif how == "crashes":
            os._exit(1)
        else:
            reply(message_id, {"ok": True})
        if how == "deaf":
            time.sleep(60)
    elif not message_id:
        with open("told", "a") as file:
            file.write(json.dumps(message) + "\n")
    else:
        text = message["params"].get("arguments", {}).get("text", "")
        if text == "late":
            late.append(message_id)
            continue
        for waiting in late:
            deny(waiting, "too late")
        late.clear()
        lie(text, message_id)
