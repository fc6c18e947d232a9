"""soak.py FOLDER TIMES: so many decisions in the memory that the first thousands took, without waiting and waiting."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from hookbox_runtime import Hook, Runtime

FOLDER, TIMES = Path(sys.argv[1]), int(sys.argv[2])
EVENT = (FOLDER / "event.json").read_bytes()
ROOM = 8 << 20


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


async def main() -> None:
    async with Runtime.open() as runtime:
        hooks = await runtime.load(FOLDER / "hooks.json", hooks=[Hook("PreToolUse", lambda event: None)])
        warm, batch = 0, max(TIMES // 20, 1000)
        for done in range(0, TIMES, batch):
            for _ in range(batch // 200):
                await asyncio.gather(*(hooks.decide(EVENT) for _ in range(100)))
                for _ in range(100):
                    hooks.decide_sync(EVENT)
            now = resident()
            warm = warm if done >= batch * 4 else now
            print(f"{done + batch:>9,} decisions   {now >> 20} MiB", flush=True)
            assert now <= warm + ROOM, f"{(now - warm) >> 20} MiB more than after warming up"


asyncio.run(main())
