"""Blocks prompts that mention secrets, as prompt-filter does."""

import re

from hookbox import UserPromptSubmitEvent, block, config, on_user_prompt_submit

# Word beginnings or phrases. Letter case, `-` and `_` do not matter.
KEYWORDS = ["password", "passwd", "secret", "api key", "private key"]


@on_user_prompt_submit
def filter_prompt(event: UserPromptSubmitEvent):
    prompt = plain(event.prompt)
    for keyword in config.get().get("keywords", KEYWORDS):
        # Both texts have a blank before every word, so a keyword matches only at the start of a word.
        if plain(keyword) and plain(keyword) in prompt:
            return block(f"the prompt speaks of `{keyword}`; leave secrets out of it and try again")


def plain(text: str) -> str:
    """Converts text to lower case, and every run of other characters to one blank: `API_key` is ` api key`."""
    return "".join(f" {word.lower()}" for word in re.findall(r"[^\W_]+", text))
