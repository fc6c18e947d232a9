"""bench.py FOLDER LIBRARY: the package for Python beside the Rust library, and its bounds. Exits with 1 if one is missed.

Both sides work in turns within one run, and a ratio is the median of the turns: so other load on the machine counts for both.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from hookbox_runtime import HookSet, Runtime

FOLDER, LIBRARY = Path(sys.argv[1]), sys.argv[2]
EVENT = (FOLDER / "event.json").read_bytes()
TURNS, TIMES, THREADS, TOGETHER = 15, 2000, 8, 10_000
CORES = len(os.sched_getaffinity(0))
missed = []


class Library:
    """The Rust library, in a process of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([LIBRARY, str(FOLDER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def seconds(self, work: str) -> float:
        """Seconds that this work takes."""
        assert self.process.stdin is not None
        self.process.stdin.write(work + "\n")
        self.process.stdin.flush()
        return int(self._line()) / 1e9

    def end(self) -> None:
        """Ends the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def report(what: str, value: float, unit: str, bound: float | None = None, at_least: bool = False, more: str = "") -> None:
    """Prints a figure beside its bound."""
    holds = bound is None or (value >= bound if at_least else value <= bound)
    limit = "" if bound is None else f"{'>=' if at_least else '<='} {bound:g}{'' if holds else '  MISSED'}"
    print(f"python  {what:42} {value:8.2f} {unit:4} {limit:18} {more}", flush=True)
    if not holds:
        missed.append(what)


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def compare(what: str, package: Callable[[], float], library: Callable[[], float], times: int, bound: float | None) -> None:
    """Reports the median ratio of seconds of the package and of the library, for so many decisions."""
    package(), library()
    turns = [(package(), library()) for _ in range(TURNS)]
    own, other = (statistics.median(turn[side] for turn in turns) / times * 1e6 for side in (0, 1))
    ratio = statistics.median(turn[0] / turn[1] for turn in turns)
    report(what, ratio, "x", bound, more=f"{own:.1f} us beside {other:.1f} us")


def sync(hooks: HookSet, times: int) -> None:
    for _ in range(times):
        assert hooks.decide_sync(EVENT).blocks


def in_threads(hooks: HookSet, threads: int, times: int) -> None:
    running = [threading.Thread(target=sync, args=(hooks, times)) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


async def awaited(hooks: HookSet, times: int) -> float:
    begin = time.perf_counter()
    for _ in range(times):
        assert (await hooks.decide(EVENT)).blocks
    return time.perf_counter() - begin


async def together(hooks: HookSet, times: int) -> float:
    begin = time.perf_counter()
    responses = await asyncio.gather(*(hooks.decide(EVENT) for _ in range(times)))
    assert all(response.blocks for response in responses)
    return time.perf_counter() - begin


async def late(load: HookSet | None, at_once: int) -> float:
    """Lateness of a timer of the loop in milliseconds, the 99th of 100, while so many decisions run."""
    ended = asyncio.Event()

    async def decide(hooks: HookSet) -> None:
        while not ended.is_set():
            await hooks.decide(EVENT)

    busy = [asyncio.ensure_future(decide(load)) for _ in range(at_once)] if load is not None else []
    await asyncio.sleep(0.3)
    lateness = []
    for _ in range(1000):
        begin = time.perf_counter()
        await asyncio.sleep(0.002)
        lateness.append((time.perf_counter() - begin - 0.002) * 1e3)
    ended.set()
    await asyncio.gather(*busy)
    return sorted(lateness)[989]


async def main() -> None:
    library = Library()
    async with Runtime.open() as runtime:
        hooks = await runtime.load(FOLDER / "hooks.json")
        compare("a decision", lambda: timed(lambda: sync(hooks, TIMES)), lambda: library.seconds(f"sync {TIMES}"), TIMES, 1.5)
        turns = []
        for _ in range(TURNS):
            turns.append((await together(hooks, TOGETHER), library.seconds(f"together {TOGETHER}")))
        own, other = (statistics.median(turn[side] for turn in turns) / TOGETHER * 1e6 for side in (0, 1))
        ratio = statistics.median(turn[0] / turn[1] for turn in turns)
        report(f"each of {TOGETHER:,} decisions at once", ratio, "x", more=f"{own:.1f} us beside {other:.1f} us")
        turns = [(await awaited(hooks, TIMES), library.seconds(f"sync {TIMES}")) for _ in range(TURNS)]
        own = statistics.median(turn[0] for turn in turns) / TIMES * 1e6
        report("a decision that is awaited alone", statistics.median(a / b for a, b in turns), "x", more=f"{own:.1f} us")

        # The speed-up by threads, beside that of the library, which has no GIL.
        each = TIMES // THREADS
        speed_ups = []
        for _ in range(TURNS):
            alone, all_of_them = timed(lambda: sync(hooks, TIMES)), timed(lambda: in_threads(hooks, THREADS, each))
            of_library = library.seconds(f"sync {TIMES}") / library.seconds(f"threads {THREADS} {each}")
            speed_ups.append((alone / all_of_them, of_library))
        own, other = (statistics.median(turn[side] for turn in speed_ups) for side in (0, 1))
        report(f"speed-up of {THREADS} threads on {CORES} cores", own, "x", 0.8 * other, True, f"the library's is {other:.2f}")

        spin = {"hooks": {"PreToolUse": [{"hooks": [{"type": "wasm", "component": "endless.wasm", "timeout": 0.2}]}]}}
        spinning = await runtime.load({**spin, "limits": {"fuel": 1 << 60}}, folder=FOLDER)
        report("loop delay p99, idle", await late(None, 0), "ms")
        report("loop delay p99, 16 guards at once", await late(hooks, 16), "ms", 2)
        report("loop delay p99, 4 endless hooks at once", await late(spinning, 4), "ms", 2)
    library.end()
    print(f"python  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


asyncio.run(main())
sys.exit(f"missed: {', '.join(missed)}" if missed else 0)
