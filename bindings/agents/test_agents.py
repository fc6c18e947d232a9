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
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, cast

from agent_framework import Agent as FrameworkAgent
from agent_framework import create_agent_hooks_middleware
from agent_framework.openai import OpenAIChatCompletionClient
from agent_hooks import (
    ApprovalOutcome,
    ApprovalRequest,
    ApprovalResolution,
    InterceptionBlocked,
    Verdict,
)
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    ToolInputGuardrailTripwireTriggered,
    function_tool,
    set_tracing_disabled,
)
from claude_agent_sdk import ClaudeAgentOptions, PermissionResultAllow, PermissionResultDeny, ResultMessage, query
from claude_agent_sdk.types import HookEvent, ToolPermissionContext
from openai import AsyncOpenAI
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests, DeferredToolResults
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from hookbox_runtime import Hook, HookboxError, HookSet, Runtime
from hookbox_runtime.adapters.agent_hooks import interceptor
from hookbox_runtime.adapters.claude_agent_sdk import claude_can_use_tool, claude_hooks
from hookbox_runtime.adapters.openai_agents import input_guardrail, output_guardrail
from hookbox_runtime.adapters.pydantic_ai import guard

REFUSED = "`rm -rf` is not allowed here"


Calls = list[tuple[str, dict[str, Any]]]


@contextlib.contextmanager
def model(calls: Calls) -> Iterator[str]:
    """The address of a model that makes these calls, one after the other."""
    given = [text for tool, tool_input in calls for text in (tool, json.dumps(tool_input))]
    command = [sys.executable, os.environ["MODEL"], *given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def bash(*commands: str) -> Calls:
    return [("Bash", {"command": command, "description": "Do it"}) for command in commands]


async def say(*texts: str) -> AsyncIterator[dict[str, Any]]:
    for text in texts:
        yield {"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None}


def says(event: str, **specific: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **specific}}


def returns(output: dict[str, Any] | None) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
    """A function that returns this for every event."""
    return lambda event: output


class InFolder(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.precious = self.folder / "precious"
        self.precious.mkdir()
        shutil.copy(os.environ["GUARD"], self.folder / "guard.wasm")
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
    async def run_agent(self, calls: Calls, *prompts: str, **options: Any) -> str:
        told = []
        with model(calls) as url:
            with_defaults = {"cwd": self.folder, "setting_sources": [], "env": self.environment(url), **options}
            # One prompt at a time: the session ends with its input.
            async for message in query(prompt=say("Clean up.", *prompts), options=ClaudeAgentOptions(**with_defaults)):
                if isinstance(message, ResultMessage):
                    told.append(message.result or "")
        return "\n".join(told)

    async def run_functions(self, functions: dict[str, Any], command: str, **options: Any) -> str:
        """The result of a command under these functions, one for each event."""
        made = [Hook(event, function) for event, function in functions.items()]
        hooks = await self.runtime.load({"failClosed": True}, hooks=made)
        return await self.run_agent(bash(command), hooks=claude_hooks(hooks), **options)

    async def test_a_component_guards_an_agent(self) -> None:
        remove = bash(f"rm -rf {self.precious}")
        hooks = await self.runtime.load(self.guarded, folder=self.folder)
        told = await self.run_agent(remove, hooks=claude_hooks(hooks), allowed_tools=["Bash"])
        self.assertIn(REFUSED, told)
        self.assertTrue(self.precious.exists())
        # The agent does what the model asks for where no hook denies it.
        await self.run_agent(remove, allowed_tools=["Bash"])
        self.assertFalse(self.precious.exists())

    async def test_a_hook_set_that_is_closed_blocks(self) -> None:
        hooks = await self.runtime.load(self.guarded, folder=self.folder)
        options = claude_hooks(hooks)
        await hooks.close()
        await self.run_agent(bash(f"rm -rf {self.precious}"), hooks=options, allowed_tools=["Bash"])
        self.assertTrue(self.precious.exists())

    async def test_every_event_of_a_session(self) -> None:
        samples = {file.stem: json.loads(file.read_text()) for file in Path(os.environ["SAMPLES"]).glob("*.json")}
        seen: list[str] = []

        def see(event: dict[str, Any]) -> None:
            seen.append(event["hook_event_name"])

        hooks = await self.runtime.load({}, hooks=[Hook(name, see) for name in samples])
        options = claude_hooks(hooks)
        self.assertEqual(set(samples), set(options))
        for name, event in samples.items():
            callback: Any = options[cast(HookEvent, name)][0].hooks[0]
            self.assertEqual({}, await callback(event, None, {"signal": None}), name)
            self.assertEqual(name, seen.pop())

        async def allow(*_: Any) -> PermissionResultAllow:
            return PermissionResultAllow()

        # A subagent, a tool that works, one that fails, one that needs permission, and a compaction.
        agent = {"description": "Ask", "prompt": "Only answer.", "subagent_type": "general-purpose", "run_in_background": False}
        calls: Calls = [("Agent", agent), *bash("true", "false", "touch asked")]
        allowed = ["Agent", "Bash(true)", "Bash(false)"]
        await self.run_agent(calls, "/compact", hooks=options, allowed_tools=allowed, can_use_tool=allow)
        self.assertEqual(set(), set(samples) - set(seen))

    async def test_the_agent_does_what_hooks_say(self) -> None:
        remove, other = f"rm -r {self.precious}", self.folder / "other"
        bash_allowed: dict[str, Any] = {"allowed_tools": ["Bash"]}

        async def run(event: str, output: dict[str, Any] | None, command: str = remove) -> str:
            return await self.run_functions({event: returns(output)}, command, **bash_allowed)

        await run("UserPromptSubmit", {"decision": "block", "reason": "not today"})
        self.assertTrue(self.precious.exists())
        # Claude Code lets the tool run, and then ends the turn.
        self.assertEqual("", await run("PreToolUse", {"continue": False, "stopReason": "enough"}, "true"))
        await run("PreToolUse", says("PreToolUse", permissionDecision="allow", updatedInput={"command": f"touch {other}"}))
        self.assertTrue(self.precious.exists() and other.exists())
        redacted = {"stdout": "***", "stderr": "", "interrupted": False}
        withheld = await run("PostToolUse", says("PostToolUse", updatedToolOutput=redacted), "echo secret-42")
        self.assertIn("***", withheld)
        self.assertNotIn("secret-42", withheld)

        def broken(_: object) -> None:
            raise ValueError("broken")

        await self.run_functions({"PreToolUse": broken}, remove, **bash_allowed)
        self.assertTrue(self.precious.exists())
        # If no rule allows the call, hooks of `PermissionRequest` answer for the user.
        for behavior, expected in (("deny", True), ("allow", False)):
            await self.run_functions({"PermissionRequest": returns(says("PermissionRequest", decision={"behavior": behavior}))}, remove)
            self.assertEqual(expected, self.precious.exists(), behavior)

    async def test_can_use_tool_in_an_agent(self) -> None:
        async def otherwise(*_: Any) -> PermissionResultAllow:
            return PermissionResultAllow()

        guard = [{"hooks": [{"type": "wasm", "component": "guard.wasm"}]}]
        hooks = await self.runtime.load({"failClosed": True, "hooks": {"PermissionRequest": guard}}, folder=self.folder)
        ask = claude_can_use_tool(hooks, otherwise=otherwise)
        self.assertIn(REFUSED, await self.run_agent(bash(f"rm -rf {self.precious}"), can_use_tool=ask))
        self.assertTrue(self.precious.exists())
        nothing = claude_can_use_tool(await self.runtime.load({}))
        await self.run_agent(bash(f"rm -r {self.precious}"), can_use_tool=nothing)
        self.assertTrue(self.precious.exists())
        await self.run_agent(bash(f"rm -r {self.precious}"), can_use_tool=ask)
        self.assertFalse(self.precious.exists())

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
        # A hook that ends the turn does so whatever `otherwise` says.
        stop = Hook("PermissionRequest", lambda _: {"continue": False, "stopReason": "enough"})
        ask = claude_can_use_tool(await self.runtime.load({}, hooks=[stop]), otherwise=otherwise)
        ended = PermissionResultDeny(message="enough", interrupt=True)
        self.assertEqual(ended, await ask("Bash", {"command": "ls"}, context))
        blade = await self.runtime.load({}, dialect="blade-callback@observed")
        for adapter in (claude_hooks, claude_can_use_tool, input_guardrail, interceptor, guard):
            with self.assertRaises(HookboxError):
                adapter(blade)


class OpenAI(InFolder):
    async def run_agent(self, hooks: HookSet, result: str = "done") -> tuple[str, list[str]]:
        ran: list[str] = []

        @function_tool(tool_input_guardrails=[input_guardrail(hooks)], tool_output_guardrails=[output_guardrail(hooks)])
        def run(command: str) -> str:
            """Runs a command."""
            ran.append(command)
            return result

        with model([("run", {"command": "rm -rf /"})]) as url:
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

    async def test_a_guardrail_refuses_what_it_cannot_do(self) -> None:
        asks = says("PreToolUse", permissionDecision="ask")
        rewrites = says("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls"})
        for output, expected in ((asks, "a person's approval"), (rewrites, "rewrites this call")):
            hooks = await self.runtime.load({}, hooks=[Hook("PreToolUse", returns(output))])
            told, ran = await self.run_agent(hooks)
            self.assertEqual([], ran)
            self.assertIn(expected, told)
        redact = Hook("PostToolUse", lambda _: says("PostToolUse", updatedToolOutput="***"))
        told, _ = await self.run_agent(await self.runtime.load({}, hooks=[redact]), "secret")
        self.assertEqual("I was told: ***", told)
        stop = Hook("PreToolUse", lambda _: {"continue": False, "stopReason": "enough"})
        with self.assertRaises(ToolInputGuardrailTripwireTriggered):
            await self.run_agent(await self.runtime.load({}, hooks=[stop]))


class Guarded(InFolder):
    """Code shared by the adapters of SDKs that run their tools in this process."""

    ran: list[str]

    def setUp(self) -> None:
        super().setUp()
        self.ran = []

    async def run_agent(self, hooks: HookSet, result: str = "done") -> str:
        """Runs an agent whose model calls `run` once. Returns the final answer of the model."""
        raise unittest.SkipTest("a base class")

    async def load(self, event: str, output: dict[str, Any]) -> HookSet:
        return await self.runtime.load({"failClosed": True}, hooks=[Hook(event, returns(output))])

    async def test_a_component_guards_a_tool(self) -> None:
        told = await self.run_agent(await self.runtime.load(self.guarded, folder=self.folder))
        self.assertEqual([], self.ran)
        self.assertIn(REFUSED, told)
        self.assertIn("done", await self.run_agent(await self.runtime.load({})))
        self.assertEqual(["rm -rf /"], self.ran)

    async def test_hooks_rewrite_inputs_and_results(self) -> None:
        rewrites = says("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls"})
        self.assertIn("done", await self.run_agent(await self.load("PreToolUse", rewrites)))
        self.assertEqual(["ls"], self.ran)
        redact = await self.load("PostToolUse", says("PostToolUse", updatedToolOutput="***"))
        told = await self.run_agent(redact, "secret")
        self.assertIn("***", told)
        self.assertNotIn("secret", told)

    async def test_a_result_is_withheld(self) -> None:
        told = await self.run_agent(await self.load("PostToolUse", {"decision": "block", "reason": "look again"}), "secret")
        self.assertIn("look again", told)
        self.assertNotIn("secret", told)

    async def test_asking_without_a_user_is_a_denial(self) -> None:
        await self.run_agent(await self.load("PreToolUse", says("PreToolUse", permissionDecision="ask")))
        self.assertEqual([], self.ran)

    async def test_a_hook_ends_the_run(self) -> None:
        hooks = await self.load("PreToolUse", {"continue": False, "stopReason": "enough"})
        with self.assertRaises(Exception):
            await self.run_agent(hooks)
        self.assertEqual([], self.ran)

    async def test_a_hook_set_that_is_closed_blocks(self) -> None:
        hooks = await self.load("PreToolUse", {})
        await hooks.close()
        with self.assertRaises(Exception):
            await self.run_agent(hooks)
        self.assertEqual([], self.ran)

    async def test_hooks_of_other_events_are_a_warning(self) -> None:
        hooks = await self.load("Stop", {})
        with self.assertLogs("hookbox_runtime", "WARNING") as logged:
            await self.run_agent(hooks)
        self.assertIn("no event for Stop", logged.output[0])


class AgentFramework(Guarded):
    async def run_agent(self, hooks: HookSet, result: str = "done", resolver: Any = None, prompt: str = "Clean up.") -> str:
        def run(command: str) -> str:
            """Runs a command."""
            self.ran.append(command)
            return result

        middleware = create_agent_hooks_middleware({"hookbox": interceptor(hooks)}, resolver=resolver, timeout=30)
        with model([("run", {"command": "rm -rf /"})]) as url:
            client = OpenAIChatCompletionClient(model="m", base_url=url, api_key="none")
            agent = FrameworkAgent(client=client, tools=[run], middleware=[middleware])
            return (await agent.run(prompt)).text

    async def test_other_points(self) -> None:
        seen: list[str] = []

        def see(event: dict[str, Any]) -> None:
            seen.append(event["hook_event_name"])

        names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionEnd"]
        await self.run_agent(await self.runtime.load({}, hooks=[Hook(name, see) for name in names]))
        self.assertEqual(names, seen)
        prompts = Hook("UserPromptSubmit", lambda event: {"decision": "block", "reason": event["prompt"]})
        with self.assertRaises(InterceptionBlocked) as raised:
            await self.run_agent(await self.runtime.load({}, hooks=[prompts]), prompt="secret")
        self.assertIn("secret", str(raised.exception.result.verdict.message))

    async def test_a_resolver_answers_an_ask(self) -> None:
        class Approves:
            def resolve(self, request: ApprovalRequest, /) -> ApprovalResolution:
                return ApprovalResolution(ApprovalOutcome.APPROVE, request.context_identity, Verdict.allow())

        hooks = await self.load("PreToolUse", says("PreToolUse", permissionDecision="ask"))
        self.assertIn("done", await self.run_agent(hooks, resolver=Approves()))
        self.assertEqual(["rm -rf /"], self.ran)


class PydanticAI(Guarded):
    def agent(self, hooks: HookSet, url: str, result: str, **options: Any) -> PydanticAgent[None, Any]:
        chat = OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="none"))
        approval = options.pop("approval", False)
        agent: PydanticAgent[None, Any] = PydanticAgent(chat, capabilities=[guard(hooks, approval=approval)], **options)

        @agent.tool_plain
        def run(command: str) -> str:
            """Runs a command."""
            self.ran.append(command)
            return result

        return agent

    async def run_agent(self, hooks: HookSet, result: str = "done") -> str:
        with model([("run", {"command": "rm -rf /"})]) as url:
            return str((await self.agent(hooks, url, result).run("Clean up.")).output)

    async def test_an_invalid_rewrite_does_not_run(self) -> None:
        hooks = await self.load("PreToolUse", says("PreToolUse", permissionDecision="allow", updatedInput={"command": [1]}))
        # The model reads an error of validation.
        self.assertNotIn("done", await self.run_agent(hooks))
        self.assertEqual([], self.ran)

    async def test_a_user_approves_an_ask(self) -> None:
        hooks = await self.load("PreToolUse", says("PreToolUse", permissionDecision="ask"))
        with model([("run", {"command": "rm -rf /"})]) as url:
            agent = self.agent(hooks, url, "done", approval=True, output_type=[str, DeferredToolRequests])
            asked = await agent.run("Clean up.")
            self.assertEqual([], self.ran)
            approvals = asked.output.approvals
            results = DeferredToolResults(approvals={call.tool_call_id: True for call in approvals})
            ended = await agent.run(message_history=asked.all_messages(), deferred_tool_results=results)
        self.assertIn("done", str(ended.output))
        self.assertEqual(["rm -rf /"], self.ran)


class Page(InFolder):
    def run_page(self) -> subprocess.CompletedProcess[str]:
        text = Path(os.environ["PAGE"]).read_text()
        for name, content in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", text, re.M | re.S):
            if not (self.folder / name).exists():
                (self.folder / name).write_text(content)
        with model(bash(f"rm -rf {self.precious}")) as url:
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
