"""Blocks prompts that talk of secrets, as prompt-filter does."""

import re

from hookbox import UserPromptSubmitEvent, block, config, on_user_prompt_submit

# Beginnings of words, or several words; letter case, `-` and `_` do not matter.
KEYWORDS = ["password", "passwd", "secret", "api key", "private key"]


@on_user_prompt_submit
def filter_prompt(event: UserPromptSubmitEvent):
    prompt = plain(event.prompt)
    for keyword in config.get().get("keywords", KEYWORDS):
        # Both begin every word with a blank, so a keyword is found at the beginning of a word only.
        if plain(keyword) and plain(keyword) in prompt:
            return block(f"the prompt speaks of `{keyword}`; leave secrets out of it and try again")


def plain(text: str) -> str:
    """Lower case, and every run of what is not a letter or digit as one blank: `API_key` is ` api key`."""
    return "".join(f" {word.lower()}" for word in re.findall(r"[^\W_]+", text))
