"""What the package does, and what it does when things go wrong. ``GUARD`` is the command guard, compiled."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any

from hookbox_runtime import Hook, HookboxError, Runtime, hook

EVENT = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}


def command(script: str, **keys: Any) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": script, **keys}]}]}}


BLOCKS = command("echo not here >&2; exit 2")


class Folder(unittest.IsolatedAsyncioTestCase):
    """A folder with the command guard as `guard.wasm`, and a runtime."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        shutil.copy(os.environ["GUARD"], self.folder / "guard.wasm")
        guard = [{"matcher": "Bash", "hooks": [{"type": "wasm", "component": "guard.wasm"}]}]
        self.file = self.folder / "hooks.json"
        self.file.write_text(json.dumps({"failClosed": True, "hooks": {"PreToolUse": guard}}))
        self.runtime = Runtime.open()
        self.addCleanup(self.runtime.close)


class Decides(Folder):
    async def test_a_component_denies_a_tool_call(self) -> None:
        hooks = await self.runtime.load(self.file)
        for event in (EVENT, json.dumps(EVENT), json.dumps(EVENT).encode()):
            response = await hooks.decide(event)
            self.assertTrue(response.blocks and response.restricts)
            self.assertEqual("deny", response.output["hookSpecificOutput"]["permissionDecision"])
        self.assertEqual((0, None, None), (response.exit_code, response.error, response.stderr))
        self.assertFalse((await hooks.decide({**EVENT, "tool_input": {"command": "ls"}})).blocks)
        assert response.report is not None
        self.assertGreater(response.report["hooks"][0].get("fuel", 0), 0)
        self.assertEqual(json.loads(response.to_json())["outcome"], "deny")
        self.assertEqual("Response(outcome='deny', blocks=True)", repr(response))

    def test_each_call_has_a_twin_that_waits(self) -> None:
        hooks = self.runtime.load_sync(self.file)
        self.assertTrue(hooks.decide_sync(EVENT).blocks)
        self.assertEqual("deny", hooks.explain_sync(EVENT)["verdict"])
        self.assertEqual([], hooks.check_sync())
        self.assertEqual(["PreToolUse"], hooks.events)
        self.assertEqual(("claude", "default"), (hooks.dialect, hooks.tenant))
        hooks.close_sync()
        with self.assertRaises(HookboxError) as raised:
            hooks.decide_sync(EVENT)
        self.assertEqual("closed", raised.exception.code)

    async def test_an_event_that_cannot_be_read_is_settled(self) -> None:
        hooks = await self.runtime.load(self.file)
        for event in (b"", b"{", b"\xff", "\ud800", "[]"):
            response = await hooks.decide(event)
            self.assertTrue(response.blocks, event)
            self.assertEqual("event", (response.error or ("", ""))[0])
        with self.assertRaises(HookboxError) as raised:
            await hooks.explain("{")
        self.assertEqual("event", raised.exception.code)

    async def test_a_broken_configuration_does_not_load(self) -> None:
        broken = {"hooks": {"PreToolUse": [{"mathcer": "Bash", "hooks": [{"type": "wasm", "component": "no.wasm"}]}]}}
        with self.assertRaises(HookboxError) as raised:
            await self.runtime.load(broken, folder=self.folder)
        error = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual("config", error.code)
        self.assertIn("did you mean `matcher`?", [found["help"] for found in error.diagnostics])
        self.assertEqual(error.diagnostics, await self.runtime.check(broken, folder=self.folder))
        # A component that is missing when an event needs it blocks.
        (self.folder / "guard.wasm").unlink()
        self.assertTrue((await (await self.runtime.load(self.file, lazy=True)).decide(EVENT)).blocks)
        with self.assertRaises(HookboxError) as raised:
            await self.runtime.load(self.file)
        self.assertEqual("hook", raised.exception.code)

    async def test_a_ceiling_bounds_a_tenant(self) -> None:
        await self.runtime.load({"hooks": {}}, tenant="acme", ceiling={"limits": {"fuel": 1000}})
        with self.assertRaises(HookboxError) as raised:
            await self.runtime.load(BLOCKS, tenant="acme", ceiling={"authority": "gate"})
        self.assertIn("the ceiling of tenant `acme` is wasm", raised.exception.message)

    def test_invalid_options_are_errors(self) -> None:
        calls: list[Any] = [
            lambda: Runtime.open(max_instances=0),
            lambda: self.runtime.load_sync({}, dialect="klaude"),
            lambda: self.runtime.load_sync({}, handlers=["command"]),
            lambda: self.runtime.load_sync({}, hooks=[Hook("PreTolUse", print)]),
        ]
        for call in calls:
            with self.assertRaises(HookboxError) as raised:
                call()
            self.assertIn(raised.exception.code, ("options", "config"))
        with self.assertRaises(ValueError):
            self.runtime.load_sync({}).decide_sync(EVENT, timeout=-1)


class Functions(Folder):
    async def run_hook(self, made: Hook) -> tuple[bool, str | None]:
        hooks = await self.runtime.load({}, hooks=[made])
        response = await hooks.decide(EVENT)
        report = response.report
        assert report is not None
        return response.blocks, report["hooks"][0].get("cause")

    async def test_a_function_decides_beside_components(self) -> None:
        seen: list[str] = []

        @hook("PreToolUse", matcher="Bash", name="own")
        async def own(event: dict[str, Any]) -> dict[str, Any]:
            await asyncio.sleep(0)
            seen.append(threading.current_thread().name)
            return {"decision": "block", "reason": event["tool_input"]["command"]}

        hooks = await self.runtime.load(self.file, hooks=[own])
        response = await hooks.decide({**EVENT, "tool_input": {"command": "ls"}})
        self.assertEqual(("deny", "ls"), (response.outcome, response.undelivered))
        self.assertEqual(["MainThread"], seen, "an async function runs on the loop that loaded it")
        self.assertEqual(["guard.wasm", "own"], [ran["hook"] for ran in (response.report or {"hooks": []})["hooks"]])
        with self.assertRaises(HookboxError) as raised:
            hooks.decide_sync(EVENT)
        self.assertEqual("unsupported", raised.exception.code)

    async def test_a_function_that_fails_is_a_failed_hook(self) -> None:
        def raises(_: object) -> None:
            raise ValueError("boom")

        async def raises_later(_: object) -> None:
            raise SystemExit

        for function in (raises, raises_later):
            self.assertEqual((True, "guest-error"), await self.run_hook(Hook("PreToolUse", function, on_failure="block")))
        rubbish: list[Any] = [1, [], "text", {"decision": 1}, object(), {"a": {1, 2}}]
        for value in rubbish:
            made = Hook("PreToolUse", lambda _, value=value: value, on_failure="block")  # type: ignore[misc]
            blocks, cause = await self.run_hook(made)
            self.assertTrue(blocks and cause in ("bad-output", "guest-error"), (value, cause))
        self.assertEqual((False, None), await self.run_hook(Hook("PreToolUse", lambda _: None)))

    async def test_a_function_that_never_returns_is_cancelled(self) -> None:
        cancelled = asyncio.Event()

        async def never(_: object) -> None:
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.set()

        made = Hook("PreToolUse", never, timeout=0.05, on_timeout="block")
        self.assertEqual((True, "timeout"), await self.run_hook(made))
        await asyncio.wait_for(cancelled.wait(), 10)

    async def test_thousands_of_async_functions_wait_at_once(self) -> None:
        many, here = 2000, asyncio.Event()
        waiting = 0

        async def meet(_: object) -> dict[str, str]:
            nonlocal waiting
            waiting += 1
            if waiting == many:
                here.set()
            await here.wait()
            return {"decision": "block"}

        hooks = await self.runtime.load({}, hooks=[Hook("PreToolUse", meet)])
        responses = await asyncio.gather(*(hooks.decide(EVENT) for _ in range(many)))
        self.assertTrue(all(response.blocks for response in responses))

    def test_a_plain_function_under_a_synchronous_call(self) -> None:
        async def later(event: dict[str, Any]) -> dict[str, str]:
            return {"decision": "block"}

        functions: list[Any] = [lambda _: {"decision": "block"}, later]
        for function in functions:
            hooks = self.runtime.load_sync({}, hooks=[Hook("PreToolUse", function)])
            self.assertTrue(hooks.decide_sync(EVENT).blocks)


class GoesWrong(Folder):
    async def test_cancelling_a_task_ends_the_work(self) -> None:
        mark = self.folder / "mark"
        hooks = await self.runtime.load(command(f"sleep 1; touch {mark}"))
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(hooks.decide(EVENT), 0.1)
        time.sleep(1.5)
        self.assertFalse(mark.exists())

    async def test_a_set_is_closed_and_dropped_while_it_decides(self) -> None:
        hooks = await self.runtime.load(command("sleep 0.3; echo not here >&2; exit 2"))
        deciding = asyncio.ensure_future(hooks.decide(EVENT))
        await asyncio.sleep(0.05)
        await hooks.close()
        self.runtime.close()
        del hooks
        self.assertTrue((await deciding).blocks)

    async def test_two_runtimes_and_many_threads(self) -> None:
        with Runtime.open(threads=1) as other:
            sets = [self.runtime.load_sync(self.file), other.load_sync(self.file)]
            results: list[bool] = []

            def work() -> None:
                for _ in range(20):
                    results.extend(hooks.decide_sync(EVENT).blocks for hooks in sets)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual([True] * 160, results)

    async def test_thousands_at_once_and_a_loop_that_goes_on(self) -> None:
        hooks = await self.runtime.load(self.file)
        responses = await asyncio.gather(*(hooks.decide(EVENT) for _ in range(2000)))
        self.assertTrue(all(response.blocks for response in responses))

    @unittest.skipUnless(hasattr(os, "fork"), "forks")
    def test_a_fork_needs_a_runtime_of_its_own(self) -> None:
        program = f"""
import os
from hookbox_runtime import HookboxError, Runtime
hooks = Runtime.open().load_sync({str(self.file)!r})
child = os.fork()
if child == 0:
    try:
        hooks.decide_sync({json.dumps(EVENT)!r})
    except HookboxError as error:
        own = Runtime.open().load_sync({str(self.file)!r})
        os._exit(0 if error.code == "forked" and own.decide_sync({json.dumps(EVENT)!r}).blocks else 3)
    os._exit(4)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
        self.assertEqual(0, run(program))

    def test_the_interpreter_ends_while_hooks_are_at_work(self) -> None:
        program = """
import asyncio
from hookbox_runtime import Hook, Runtime
async def main():
    def busy(_):
        while True: pass
    hooks = await Runtime.open().load(SLOW, hooks=[Hook("PreToolUse", busy)])
    for _ in range(20):
        asyncio.ensure_future(hooks.decide(EVENT))
    await asyncio.sleep(0.2)
asyncio.run(main())
"""
        slow = repr(command("sleep 5"))
        self.assertEqual(0, run(program.replace("SLOW", slow).replace("EVENT", repr(EVENT)), timeout=30))

    def test_the_interpreter_ends_right_after_a_decision(self) -> None:
        program = f"""
import asyncio
from hookbox_runtime import Runtime
async def main():
    hooks = await Runtime.open().load({str(self.file)!r})
    await asyncio.gather(*(hooks.decide({EVENT!r}) for _ in range(20)))
asyncio.run(main())
"""
        self.assertEqual([0] * 10, [run(program) for _ in range(10)])

    def test_the_interpreter_ends_while_threads_wait(self) -> None:
        program = """
import threading, time
from hookbox_runtime import HookboxError, Hook, Runtime
runtime = Runtime.open()
def work(hooks):
    while True:
        try:
            hooks.decide_sync(EVENT)
        except HookboxError:
            pass
sets = [runtime.load_sync(SLOW), runtime.load_sync(FILE), runtime.load_sync({}, hooks=[Hook("PreToolUse", lambda _: time.sleep(5))])]
for hooks in sets * 3:
    threading.Thread(target=work, args=(hooks,), daemon=True).start()
time.sleep(0.3)
"""
        program = program.replace("SLOW", repr(command("sleep 5"))).replace("EVENT", repr(EVENT)).replace("FILE", repr(str(self.file)))
        self.assertEqual([0] * 5, [run(program, timeout=30) for _ in range(5)])

    @unittest.skipUnless(hasattr(os, "fork"), "forks")
    def test_a_fork_ends_while_hooks_are_at_work(self) -> None:
        program = """
import os, sys, threading, time
from hookbox_runtime import Hook, Runtime
runtime = Runtime.open()
slow, quick = runtime.load_sync(SLOW, hooks=[Hook("PreToolUse", lambda _: None)]), runtime.load_sync(FILE)
for hooks in [slow, quick] * 3:
    threading.Thread(target=lambda hooks=hooks: [hooks.decide_sync(EVENT) for _ in range(200)], daemon=True).start()
for _ in range(5):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        del runtime, slow, quick, hooks
        sys.exit(42)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
assert quick.decide_sync(EVENT).blocks
"""
        program = program.replace("SLOW", repr(command("sleep 1"))).replace("FILE", repr(str(self.file)))
        self.assertEqual(0, run(program.replace("EVENT", repr(EVENT)), timeout=30))

    def test_processes_of_multiprocessing(self) -> None:
        program = """
import multiprocessing, sys
from hookbox_runtime import Runtime
def work(_):
    with Runtime.open() as runtime:
        return runtime.load_sync(FILE).decide_sync(EVENT).blocks
if __name__ == "__main__":
    hooks = Runtime.open().load_sync(FILE)
    for method in ("spawn", "forkserver", "fork"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(work, range(4)) == [True] * 4, method
    assert hooks.decide_sync(EVENT).blocks
"""
        file = self.folder / "program.py"
        file.write_text(program.replace("FILE", repr(str(self.file))).replace("EVENT", repr(EVENT)))
        self.assertEqual(0, subprocess.run([sys.executable, file], timeout=60).returncode)

    def test_a_subinterpreter_cannot_import_the_package(self) -> None:
        program = """
import sys
try:
    import _interpreters as interpreters
    kinds, run = ["isolated", "legacy"], interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    kinds, run = [True, False], lambda own, code: interpreters.run_string(own, code)
IN_IT = f"import sys; sys.path[:] = {sys.path!r}\\ntry:\\n    import hookbox_runtime\\nexcept ImportError:\\n    pass\\nelse:\\n    raise SystemError"
for kind in kinds:
    own = interpreters.create(kind) if isinstance(kind, str) else interpreters.create(isolated=kind)
    assert run(own, IN_IT) is None
import hookbox_runtime
sys.exit(42)
"""
        self.assertEqual(42, run(program))

    async def test_other_child_processes_keep_their_exit_codes(self) -> None:
        hooks = await self.runtime.load(BLOCKS)

        async def child(number: int) -> int:
            process = await asyncio.create_subprocess_exec("sh", "-c", f"sleep 0.1; exit {number}")
            return await process.wait()

        numbers = range(3, 13)
        codes, responses = await asyncio.gather(
            asyncio.gather(*(child(number) for number in numbers)),
            asyncio.gather(*(hooks.decide(EVENT) for _ in numbers)),
        )
        self.assertEqual(list(numbers), codes)
        self.assertTrue(all(response.blocks for response in responses))
        self.assertEqual(7, subprocess.run(["sh", "-c", "exit 7"]).returncode)

    def test_trio(self) -> None:
        program = f"""
import trio
from hookbox_runtime import Hook, Runtime
async def own(event):
    await trio.sleep(0)
    return {{"decision": "block"}}
async def main():
    async with Runtime.open() as runtime:
        hooks = await runtime.load({str(self.file)!r})
        assert (await hooks.decide({EVENT!r})).blocks
        hooks = await runtime.load({{}}, hooks=[Hook("PreToolUse", own)])
        assert (await hooks.decide({EVENT!r})).blocks
        hooks = await runtime.load({command("sleep 5")!r})
        with trio.move_on_after(0.1) as scope:
            await hooks.decide({EVENT!r})
        assert scope.cancelled_caught
trio.run(main)
"""
        try:
            import trio  # noqa: F401
        except ImportError:
            self.skipTest("trio is not installed")
        self.assertEqual(0, run(program))


def run(program: str, timeout: float = 60) -> int:
    # Elsewhere, because Python looks for packages in the folder that it is started in first.
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([sys.executable, "-c", program], timeout=timeout, cwd=folder).returncode


if __name__ == "__main__":
    # The test loop is in debug mode, and logs every slow callback.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    unittest.main()
