"""Hostile guests through the package. ``HOSTILE`` is the folder that the tests in ``tests/hostile`` laid out."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import unittest
from pathlib import Path
from typing import Any

from hookbox_runtime import HookboxError, Runtime

EVENT = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}


class Hostile(unittest.IsolatedAsyncioTestCase):
    async def test_every_guest(self) -> None:
        folder = Path(os.environ["HOSTILE"])
        guests = sorted(folder.glob("*.json"))
        self.assertGreater(len(guests), 60)
        slots = asyncio.Semaphore(4)
        wrong: list[str] = []

        async def check(runtime: Runtime, file: Path) -> None:
            guest = json.loads(file.read_text())
            async with slots:
                found = await self.outcome(runtime, file.stem, guest)
            if guest["cause"] is not None and found != ("decided", guest["cause"], True):
                wrong.append(f"{file.stem}: expected {guest['cause']}, found {found}")
            if not guest["loads"] and found[0] != "refused":
                wrong.append(f"{file.stem}: loaded, {found}")

        async with Runtime.open() as runtime:
            await asyncio.gather(*(check(runtime, file) for file in guests))
            self.assertEqual([], wrong)
            # The runtime is as it was.
            hooks = await runtime.load({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}})
            self.assertTrue((await hooks.decide(EVENT)).blocks)

    async def outcome(self, runtime: Runtime, name: str, guest: dict[str, Any]) -> tuple[str, Any, bool]:
        """The end of a guest, its cause, and whether it blocks."""
        hook = {"type": "wasm", "component": f"{name}.wasm", "timeout": guest["timeout"], "onFailure": "block"}
        config = {"limits": guest["limits"], "hooks": {"PreToolUse": [{"hooks": [hook]}]}}
        try:
            hooks = await runtime.load(config, folder=os.environ["HOSTILE"])
        except HookboxError as error:
            return "refused", error.code, True
        response = await hooks.decide(EVENT)
        report = response.report
        return "decided", report and report["hooks"][0].get("cause"), response.blocks


if __name__ == "__main__":
    # The test loop is in debug mode, and reports every callback that takes a while.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    unittest.main()
