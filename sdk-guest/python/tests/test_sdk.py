"""Tests of the SDK outside a component, as in authors' own tests. Run with `python3 -m unittest` or `pytest`."""

import dataclasses
import inspect
import unittest
from types import SimpleNamespace

import hookbox
from hookbox import (
    EventContext,
    StopEvent,
    ToolCall,
    ToolOutput,
    UserPromptSubmitEvent,
    allow,
    block,
    config,
    deny,
    event,
    http,
    llm,
    log,
    pass_,
    respond,
    state,
)
from hookbox._input import lifted
from hookbox._subscribe import SUBSCRIPTIONS
from hookbox.outputs import Output
from hookbox.testing import Host

DECORATORS = [getattr(hookbox, name) for name in hookbox.__all__ if name.startswith("on_")]


class Fresh(unittest.TestCase):
    def setUp(self) -> None:
        SUBSCRIPTIONS.clear()


class Subscribing(Fresh):
    def test_every_event_takes_a_handler_and_its_shorter_forms(self) -> None:
        self.assertEqual(len(DECORATORS), 18)
        for decorator in DECORATORS:
            for handler in (lambda: None, lambda one: None, lambda *all: None):
                SUBSCRIPTIONS.clear()
                decorator(handler)
                self.assertEqual(len(SUBSCRIPTIONS), 1)

    def test_a_mistyped_name_has_the_nearest_one_in_its_error(self) -> None:
        for name, near in [("on_pretool_use", "on_pre_tool_use"), ("Toolcall", "ToolCall"), ("stat", "state")]:
            with self.assertRaisesRegex(ImportError, f"hookbox has no `{name}`; did you mean `{near}`"):
                exec(f"from hookbox import {name}")
        self.assertFalse(hasattr(hookbox, "gadget"))
        call = ToolCall("Bash", {})
        with self.assertRaisesRegex(AttributeError, "ToolCall has no `inputs`; did you mean `input`"):
            call.inputs
        with self.assertRaisesRegex(AttributeError, "ToolCall has no `command`$"):
            call.command

    def test_what_cannot_be_called_is_refused_at_once(self) -> None:
        async def later(call):
            return None

        def more(call, context, what):
            return None

        def named(call, *, what):
            return None

        for handler, why in ((later, "without async"), (more, "asks for more"), (named, "asks for more")):
            with self.assertRaisesRegex(TypeError, why):
                hookbox.on_pre_tool_use(handler)
        hookbox.on_pre_tool_use(lambda call: None)
        with self.assertRaisesRegex(TypeError, "used twice"):
            hookbox.on_pre_tool_use(lambda call: None)

    def test_a_word_that_makes_no_sense_for_the_event_is_refused_in_tests_too(self) -> None:
        for decorator, output, why in (
            (hookbox.on_pre_tool_use, block("no"), r"`block` does not answer it; return pass_\(…\), allow"),
            (hookbox.on_pre_tool_use, "no", "it returned str"),
            (hookbox.on_pre_tool_use, deny().interrupting(), "`interrupt`"),
            (hookbox.on_stop, deny("no"), r"return pass_\(…\) or block\(…\), or nothing"),
            (hookbox.on_stop, pass_().with_prompt("x"), "`updated_prompt` does not go with it"),
            (hookbox.on_notification, block("no"), r"return pass_\(…\), or nothing"),
            (hookbox.on_agent_event, pass_(), "this event has no answer"),
            (hookbox.on_other_event, pass_(), "return a dict"),
        ):
            SUBSCRIPTIONS.clear()
            handler = decorator(lambda *arguments, output=output: output)
            with self.subTest(str(output)), self.assertRaisesRegex(TypeError, why):
                handler({})

    def test_every_replacement_of_the_contract_has_a_method(self) -> None:
        methods = "".join(inspect.getsource(kind) for kind in (Output, *Output.__subclasses__()))
        for decorator in DECORATORS:
            SUBSCRIPTIONS.clear()
            decorator(lambda: None)
            (subscription,) = SUBSCRIPTIONS.values()
            for update in subscription.spec.updates:
                self.assertIn(f'_update("{update}"', methods)


class Outputs(Fresh):
    def test_outputs_are_values(self) -> None:
        self.assertEqual(deny("no").with_context("a").with_context("b"), dataclasses.replace(deny("no"), context="a\nb"))
        self.assertNotEqual(deny("no"), block("no"))
        self.assertEqual(pass_().end_turn("why").halt, "turn")
        self.assertEqual(allow().with_input({"a": 1}).updates, {"updated_input": {"a": 1}})
        self.assertEqual(pass_().with_env("A", "1").with_env("B", "2").updates, {"env": [("A", "1"), ("B", "2")]})
        self.assertEqual(respond("x", is_error=True).is_error, True)


class Inputs(Fresh):
    def test_json_is_parsed_when_it_is_looked_at(self) -> None:
        call = lifted(ToolCall, SimpleNamespace(name="Bash", input='{"a": [1]}', use_id=None, original_input=None))
        self.assertEqual(call.name, "Bash")
        self.assertNotIn("input", vars(call))
        self.assertEqual(call.input, {"a": [1]})
        self.assertIsNone(call.original_input)
        self.assertEqual(call, ToolCall("Bash", {"a": [1]}))
        none = lifted(ToolCall, SimpleNamespace(name="x", input="null", use_id=None, original_input="null"))
        self.assertEqual((none.input, none.original_input), ({}, None))
        with self.assertRaises(AttributeError):
            call.nothing
        self.assertEqual(ToolOutput().value, None)


class Pretended(Fresh):
    def test_the_host_is_pretended(self) -> None:
        with Host(
            config={"max": 1},
            raw_event={"x": 1},
            state={"a": "1", "b": "x"},
            http=lambda request: http.Response(204, [("X-A", request.method)], request.body or b"{}"),
            llm=lambda prompt: prompt.user.upper(),
        ) as host:
            self.assertEqual((config.get(), event.raw()), ({"max": 1}, {"x": 1}))
            self.assertEqual((state.increment("a"), state.get("c"), state.delete("a"), state.delete("a")), (2, None, True, False))
            with self.assertRaises(state.NotANumberError):
                state.increment("b")
            self.assertTrue(state.compare_and_swap("c", None, "1", ttl=1))
            self.assertFalse(state.compare_and_swap("c", None, "2"))
            state.set("ca", "é")
            self.assertEqual(state.keys("c"), ["c", "ca"])
            response = http.post("https://x/", json={"a": 1}, headers={"y": "z"})
            self.assertEqual((response.ok, response.header("x-a"), response.json()), (True, "POST", {"a": 1}))
            self.assertEqual(llm.complete("yes"), "YES")
            log.info({"a": 1})
            log.warn("w")
        self.assertEqual(host.logs, [("info", "{'a': 1}"), ("warn", "w")])

    def test_nothing_is_answered_that_was_not_given(self) -> None:
        with Host():
            self.assertRaises(http.DeniedError, http.get, "https://x/")
            self.assertRaises(llm.FailedError, llm.complete, "x")
        with self.assertRaisesRegex(RuntimeError, "call it in the handler"):
            state.get("x")

    def test_handlers_are_functions(self) -> None:
        @hookbox.on_user_prompt_submit
        def filter(event: UserPromptSubmitEvent, context: EventContext):
            return block(context.dialect) if "secret" in event.prompt else None

        @hookbox.on_stop
        def stop(event: StopEvent):
            return block("go on")

        self.assertEqual(filter(UserPromptSubmitEvent("secret"), EventContext()), block("claude"))
        self.assertIsNone(filter(UserPromptSubmitEvent("x"), EventContext()))
        self.assertEqual(stop(StopEvent()), block("go on"))
