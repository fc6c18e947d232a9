"""Detection of dangerous commands."""

import string

from shell import Command, TooDeep, parse

# Programs that run another program given in their arguments.
RUNNERS = set(
    "sudo doas env nohup time timeout nice ionice exec command builtin busybox setsid stdbuf xargs find watch".split()
)
# Programs that read a command from a string.
SHELLS = set("sh bash zsh dash ash ksh fish eval".split())
# Words that may stand before a command.
KEYWORDS = set("! { if then elif else while until do coproc".split())
# Devices that discard or display what is written to them.
HARMLESS = {f"/dev/{name}" for name in "null stdout stderr tty zero full".split()}
# Characters of a variable's name.
NAME = set(string.ascii_letters + string.digits + "_")

# Maximum nesting of commands in strings (`sh -c "sh -c …"`).
DEPTH = 8


def find(text: str, depth: int = DEPTH) -> str | None:
    """Returns the first dangerous command of a command line."""
    if depth == 0:
        return "a command inside so many others"
    try:
        commands = parse(text)
    except TooDeep:
        return "a command inside so many others"
    return first(in_command(command, depth - 1) for command in commands)


def in_command(command: Command, depth: int) -> str | None:
    for device in map(resolve, command.targets):
        if is_device(device):
            return f"writing to `{device}`"
    for at, word in enumerate(command.words):
        if word not in KEYWORDS and not is_assignment(word):
            return in_words(command.words[at:], depth)
    return None


def in_words(words: list[str], depth: int) -> str | None:
    program, arguments = name(words[0]), words[1:]
    if program == "rm" and is_recursive_and_forced(arguments):
        return "`rm -rf`"
    if program == "dd" and any(argument.startswith("if=") for argument in arguments):
        return "`dd if=`"
    if program in ("dd", "tee"):
        paths = (resolve(argument.removeprefix("of=")) for argument in arguments)
        return first(f"writing to `{path}`" for path in paths if is_device(path))
    if program == "mkfs" or program.startswith("mkfs."):
        return "`mkfs`"
    if program in SHELLS:
        return first(find(argument, depth) for argument in arguments)
    if program in RUNNERS:
        # The runner's options determine which argument is the program, so try every argument. Skip a runner inside a
        # runner: the outer one already tries all arguments.
        starts = (at for at, argument in enumerate(arguments) if name(argument) not in RUNNERS)
        return first(in_words(arguments[at:], depth) for at in starts)
    return None


def first(whys):
    return next(filter(None, whys), None)


def name(word: str) -> str:
    """Returns the program's name: `/bin/rm` is `rm`."""
    return word.rpartition("/")[2]


def is_recursive_and_forced(arguments: list[str]) -> bool:
    """Detects `-rf`, `-r -f`, `-fR`, `--recursive --force`, and the abbreviations that GNU accepts."""
    recursive = forced = False
    for argument in arguments:
        if argument == "--":
            break
        if argument.startswith("--"):
            recursive |= "recursive".startswith(argument[2:])
            forced |= "force".startswith(argument[2:])
        elif argument.startswith("-"):
            recursive |= "r" in argument or "R" in argument
            forced |= "f" in argument
    return recursive and forced


def is_assignment(word: str) -> bool:
    variable, equals, _ = word.partition("=")
    return bool(equals and variable) and NAME.issuperset(variable)


def is_device(path: str) -> bool:
    return path.startswith("/dev/") and not path.startswith("/dev/fd/") and path not in HARMLESS


def resolve(path: str) -> str:
    """Normalizes a path: `/dev/./sda` and `/tmp/../dev//sda` become `/dev/sda`. A relative path stays relative."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(parts)
