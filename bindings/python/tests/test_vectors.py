"""Every vector through the package. ``VECTORS`` is the folder that ``lay-out-vectors`` wrote."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import unittest
from pathlib import Path
from typing import Any

from hookbox_runtime import Response, Runtime

AT_ONCE = 8


def fits(expected: Any, found: Any) -> bool:
    """Tells whether this is what was expected; ``*`` stands for any text that is not empty."""
    if expected == "*" and isinstance(found, str):
        return found != ""
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(fits(value, found[key]) for key, value in expected.items())
    return type(expected) is type(found) and bool(expected == found)


def problem(vector: dict[str, Any], response: Response) -> str | None:
    """Tells what is not as the vector says."""
    report = response.report
    if response.error is not None or report is None:
        return f"the error {response.error}"
    told = vector["feedback"] is not None
    wire = report["output"] if told else response.output
    notes = {note["kind"] for note in report["notes"]}
    for hook in report["hooks"]:
        notes.update(note["kind"] for note in hook.get("notes", []))
        notes.update(["failed"] if hook["verdict"] == "failed" else [])
    ran = [number for number in range(vector["hooks"]) if (Path(vector["dir"]) / f"ran{number}").exists()]
    pairs = {
        "feedback": (vector["feedback"], response.stderr),
        "exit code": (2 if told else 0, response.exit_code),
        "stdout beside feedback": ("", response.stdout if told else ""),
        "notes": (set(vector["notes"]), notes),
        "hooks that ran": (vector["ran"], ran),
    }
    if not fits(vector["expect"], wire):
        return f"expected {json.dumps(vector['expect'])}, found {json.dumps(wire)}"
    wrong = [f"{name}: expected {pair[0]!r}, found {pair[1]!r}" for name, pair in pairs.items() if pair[0] != pair[1]]
    return "; ".join(wrong) or None


class Vectors(unittest.IsolatedAsyncioTestCase):
    async def test_every_vector(self) -> None:
        vectors = json.loads((Path(os.environ["VECTORS"]) / "vectors.json").read_text())
        self.assertGreater(len(vectors), 500)
        slots = asyncio.Semaphore(AT_ONCE)
        failures = []

        async def check(runtime: Runtime, vector: dict[str, Any]) -> None:
            async with slots, await runtime.load(vector["config"]) as hooks:
                response = await hooks.decide(vector["event"], event_name=vector["as"])
            if (why := problem(vector, response)) is not None:
                failures.append(f"{vector['place']}\n  {why}")

        async with Runtime.open() as runtime:
            await asyncio.gather(*(check(runtime, vector) for vector in vectors))
        self.assertEqual([], failures)


if __name__ == "__main__":
    # The test loop is in debug mode, and logs every slow callback.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    unittest.main()
