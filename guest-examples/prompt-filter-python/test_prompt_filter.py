"""Run with `pytest`, or `python3 -m unittest`."""

import unittest

from hookbox import UserPromptSubmitEvent, block
from hookbox.testing import Host
from prompt_filter_python import filter_prompt


def decide(prompt: str, **config: object) -> object:
    with Host(config=config):
        return filter_prompt(UserPromptSubmitEvent(prompt))


def blocked(keyword: str) -> object:
    return block(f"the prompt speaks of `{keyword}`; leave secrets out of it and try again")


class PromptFilter(unittest.TestCase):
    def test_secrets_are_blocked_however_they_are_written(self) -> None:
        self.assertEqual(decide("my Password is 1234"), blocked("password"))
        self.assertEqual(decide("two passwords"), blocked("password"))
        self.assertEqual(decide("set API_KEY=1"), blocked("api key"))
        self.assertEqual(decide("the api-key"), blocked("api key"))

    def test_a_keyword_inside_a_word_does_not_count(self) -> None:
        for prompt in ("unsecret", "write a parser", ""):
            self.assertIsNone(decide(prompt))

    def test_the_keywords_come_from_the_configuration(self) -> None:
        self.assertEqual(decide("Мой Пароль", keywords=["пароль", ""]), blocked("пароль"))
        self.assertIsNone(decide("my password", keywords=["пароль", ""]))
