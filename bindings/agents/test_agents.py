"""Adapters of the package for Python in real agents. ``GUARD`` is the command guard, ``MODEL`` the stand-in for a model, ``PAGE`` the
page of the documentation whose program is run."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool, set_tracing_disabled
from claude_agent_sdk import ClaudeAgentOptions, PermissionResultAllow, PermissionResultDeny, ResultMessage, query
from claude_agent_sdk.types import ToolPermissionContext
from openai import AsyncOpenAI

from hookbox_runtime import Hook, HookSet, Runtime
from hookbox_runtime.adapters.claude_agent_sdk import claude_can_use_tool, claude_hooks
from hookbox_runtime.adapters.openai_agents import input_guardrail, output_guardrail

REFUSED = "`rm -rf` is not allowed here"


@contextlib.contextmanager
def model(tool: str, tool_input: dict[str, Any]) -> Iterator[str]:
    """The address of a model that calls this tool once."""
    command = [sys.executable, os.environ["MODEL"], tool, json.dumps(tool_input)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


class InFolder(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.precious = self.folder / "precious"
        self.precious.mkdir()
        shutil.copy(os.environ["GUARD"], self.folder / "guard.wasm")
        self.call = {"command": f"rm -rf {self.precious}", "description": "Remove it"}
        self.runtime = Runtime.open()
        self.addCleanup(self.runtime.close)
        self.guarded = {
            "failClosed": True,
            "hooks": {"PreToolUse": [{"matcher": "Bash|run", "hooks": [{"type": "wasm", "component": "guard.wasm"}]}]},
        }

    def environment(self, url: str) -> dict[str, str]:
        """The agent's environment: no account, no settings, no traffic but to the model."""
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CONFIG_DIR": str(self.folder / "claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }


class Claude(InFolder):
    async def run_agent(self, url: str, **options: Any) -> str:
        with_defaults = {"cwd": self.folder, "setting_sources": [], "env": self.environment(url), **options}
        told = ""
        async for message in query(prompt="Clean up.", options=ClaudeAgentOptions(**with_defaults)):
            if isinstance(message, ResultMessage):
                told = message.result or ""
        return told

    async def test_a_component_guards_an_agent(self) -> None:
        with model("Bash", self.call) as url:
            hooks = await self.runtime.load(self.guarded, folder=self.folder)
            told = await self.run_agent(url, hooks=claude_hooks(hooks), allowed_tools=["Bash"])
            self.assertIn(REFUSED, told)
            self.assertTrue(self.precious.exists())
            # The agent does what the model asks for where no hook denies it.
            await self.run_agent(url, allowed_tools=["Bash"])
            self.assertFalse(self.precious.exists())

    async def test_a_hook_set_that_cannot_be_asked_blocks(self) -> None:
        with model("Bash", self.call) as url:
            hooks = await self.runtime.load(self.guarded, folder=self.folder)
            options = claude_hooks(hooks)
            await hooks.close()
            await self.run_agent(url, hooks=options, allowed_tools=["Bash"])
            self.assertTrue(self.precious.exists())

    async def test_every_event_that_a_session_has(self) -> None:
        names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]
        seen: list[str] = []

        def see(event: dict[str, Any]) -> None:
            seen.append(event["hook_event_name"])

        hooks = await self.runtime.load({}, hooks=[Hook(name, see) for name in names])
        options = claude_hooks(hooks)
        self.assertEqual(set(names), set(options))
        with model("Bash", {"command": "true", "description": "Nothing"}) as url:
            await self.run_agent(url, hooks=options, allowed_tools=["Bash"])
        for name in ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]:
            self.assertIn(name, seen)

    async def test_can_use_tool(self) -> None:
        def decide(event: dict[str, Any]) -> dict[str, Any] | None:
            behavior = {"ls": "allow", "rm": "deny"}.get(event["tool_input"]["command"])
            if behavior is None:
                return None
            decision: dict[str, Any] = {"behavior": behavior}
            decision.update({"message": "never", "interrupt": True} if behavior == "deny" else {"updatedInput": {"command": "ls -l"}})
            return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}

        hooks = await self.runtime.load({}, hooks=[Hook("PermissionRequest", decide)])
        ask = claude_can_use_tool(hooks)
        context = ToolPermissionContext(tool_use_id="toolu_01")
        allowed = await ask("Bash", {"command": "ls"}, context)
        self.assertEqual(PermissionResultAllow(updated_input={"command": "ls -l"}), allowed)
        denied = await ask("Bash", {"command": "rm"}, context)
        self.assertEqual(PermissionResultDeny(message="never", interrupt=True), denied)
        self.assertEqual("deny", (await ask("Bash", {"command": "?"}, context)).behavior)

        async def otherwise(*_: Any) -> PermissionResultAllow:
            return PermissionResultAllow()

        ask = claude_can_use_tool(hooks, otherwise=otherwise)
        self.assertEqual("allow", (await ask("Bash", {"command": "?"}, context)).behavior)


class OpenAI(InFolder):
    async def run_agent(self, hooks: HookSet, result: str = "done") -> tuple[str, list[str]]:
        ran: list[str] = []

        @function_tool(tool_input_guardrails=[input_guardrail(hooks)], tool_output_guardrails=[output_guardrail(hooks)])
        def run(command: str) -> str:
            """Runs a command."""
            ran.append(command)
            return result

        with model("run", {"command": "rm -rf /"}) as url:
            client = AsyncOpenAI(base_url=url, api_key="none")
            agent = Agent(name="agent", tools=[run], model=OpenAIChatCompletionsModel("m", client))
            ended = await Runner.run(agent, "Clean up.", run_config=RunConfig(tracing_disabled=True))
        return str(ended.final_output), ran

    async def test_a_component_guards_a_tool(self) -> None:
        hooks = await self.runtime.load(self.guarded, folder=self.folder)
        told, ran = await self.run_agent(hooks)
        self.assertEqual([], ran)
        self.assertIn(REFUSED, told)

    async def test_a_hook_withholds_a_result(self) -> None:
        def secret(event: dict[str, Any]) -> dict[str, str] | None:
            return {"decision": "block", "reason": "a secret"} if "secret" in event["tool_response"] else None

        hooks = await self.runtime.load({}, hooks=[Hook("PostToolUse", secret)])
        self.assertEqual(("I was told: a secret", ["rm -rf /"]), await self.run_agent(hooks, "secret 42"))
        self.assertEqual(("I was told: done", ["rm -rf /"]), await self.run_agent(hooks))

    async def test_what_a_guardrail_cannot_say_is_a_denial(self) -> None:
        def asks(_: Any) -> dict[str, Any]:
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}

        told, ran = await self.run_agent(await self.runtime.load({}, hooks=[Hook("PreToolUse", asks)]))
        self.assertEqual([], ran)
        self.assertIn("a person's approval", told)


class Page(InFolder):
    def run_page(self) -> subprocess.CompletedProcess[str]:
        text = Path(os.environ["PAGE"]).read_text()
        for name, content in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", text, re.M | re.S):
            if not (self.folder / name).exists():
                (self.folder / name).write_text(content)
        with model("Bash", self.call) as url:
            environment = {**os.environ, **self.environment(url)}
            command = [sys.executable, "agent.py"]
            return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120)

    def test_the_program_of_the_page(self) -> None:
        ended = self.run_page()
        self.assertEqual(0, ended.returncode, ended.stderr)
        self.assertIn(REFUSED, ended.stdout)
        self.assertTrue(self.precious.exists())

    def test_a_broken_configuration_blocks(self) -> None:
        for content in ('{ "hooks": { "PreTolUse": [] }, "failClosed": true, "hoks": 1 ', json.dumps(self.guarded)):
            (self.folder / "hooks.json").write_text(content)
            (self.folder / "guard.wasm").unlink(missing_ok=True)
            ended = self.run_page()
            self.assertNotEqual(0, ended.returncode)
            self.assertIn("hooks.json", ended.stderr)
            self.assertTrue(self.precious.exists())


if __name__ == "__main__":
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    set_tracing_disabled(True)
    unittest.main()
