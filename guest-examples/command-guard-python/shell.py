"""A parser for the part of the shell's grammar that separates commands and arguments."""

from dataclasses import dataclass, field

# Maximum nesting of substitutions. It is enough for people and uses little stack.
DEPTH = 32


class TooDeep(Exception):
    """Error for commands that are nested too deeply."""


@dataclass
class Command:
    """One simple command: its unquoted words, and the targets of its output redirections."""

    words: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)


def parse(text: str) -> list[Command]:
    """Returns the simple commands of a text, including those inside `$(…)` and backticks. Text that could be a command
    counts as one. An unterminated quotation ends with the text."""
    # `$IFS` is a common replacement for a blank.
    parser = Parser(text.replace("${IFS}", " ").replace("$IFS", " "))
    parser.list("", DEPTH)
    return parser.commands


class Draft:
    """A command that is being read."""

    def __init__(self) -> None:
        self.command = Command()
        self.word: str | None = None
        # The list that gets the next word. The source that a command reads from is dropped.
        self.place: list[str] | None = self.command.words

    def push(self, character: str) -> None:
        self.word = (self.word or "") + character

    def end_word(self) -> None:
        if self.word is not None:
            if self.place is not None:
                self.place.append(self.word)
            self.word, self.place = None, self.command.words


class Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.commands: list[Command] = []

    def next(self) -> str:
        """Returns the next character, or an empty text at the end."""
        character = self.text[self.at : self.at + 1]
        self.at += 1
        return character

    def is_next(self, characters: str) -> bool:
        return self.at < len(self.text) and self.text[self.at] in characters

    def skip(self, characters: str) -> None:
        while self.is_next(characters):
            self.at += 1

    def list(self, end: str, depth: int) -> None:
        """Reads commands up to a closing character, or to the end of the text."""
        if depth == 0:
            raise TooDeep
        depth -= 1
        draft = Draft()
        while character := self.next():
            if character == end:
                break
            if character == "&" and self.is_next(">"):
                # `&>` redirects; any other `&` ends a command.
                draft.end_word()
            elif character in "\n;&|()":
                draft = self.end_command(draft)
            elif character in " \t\r":
                draft.end_word()
            elif character == "#" and draft.word is None:
                while self.at < len(self.text) and not self.is_next("\n"):
                    self.at += 1
            elif character == ">":
                # The number in `2>` is a file descriptor and not an argument.
                if draft.word is not None and all(digit in "0123456789" for digit in draft.word):
                    draft.word = None
                draft.end_word()
                self.skip(">|&")
                draft.place = draft.command.targets
            elif character == "<":
                draft.end_word()
                self.skip("<-&")
                draft.place = None
            elif character == "\\":
                if (escaped := self.next()) not in ("", "\n"):
                    draft.push(escaped)
            elif character == "'":
                draft.push("")
                while (character := self.next()) not in ("", "'"):
                    draft.push(character)
            elif character == '"':
                self.quoted(draft, depth)
            else:
                self.plain_or_substitution(character, draft, depth)
        self.end_command(draft)

    def end_command(self, draft: Draft) -> Draft:
        draft.end_word()
        self.commands.append(draft.command)
        return Draft()

    def quoted(self, draft: Draft, depth: int) -> None:
        """Reads to the closing double quote."""
        draft.push("")
        while (character := self.next()) not in ("", '"'):
            if character == "\\":
                escaped = self.next()
                if escaped and escaped not in '"\\$`\n':
                    draft.push("\\")
                if escaped != "\n":
                    draft.push(escaped)
            else:
                self.plain_or_substitution(character, draft, depth)

    def plain_or_substitution(self, character: str, draft: Draft, depth: int) -> None:
        """Reads a substitution. Its result is unknown, but the commands that produce it are checked."""
        if character == "`":
            self.list("`", depth)
        elif character == "$" and self.is_next("("):
            self.at += 1
            self.list(")", depth)
        else:
            draft.push(character)
