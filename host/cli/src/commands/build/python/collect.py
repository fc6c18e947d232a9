"""Imports a hook to find which events it handles and which capabilities it imports. Prints them as JSON."""

import ast
import json
import sys
import traceback
from pathlib import Path

module, root, *path = sys.argv[1:]
sys.path[:0] = [root, *path]
printed, sys.stdout = sys.stdout, sys.stderr


def own(loaded):
    """The hook's own source files, and those of what it brings."""
    for name, each in list(loaded.items()):
        file = getattr(each, "__file__", None) or ""
        if name != "__main__" and file.endswith(".py") and any(Path(file).is_relative_to(p) for p in (root, *path[1:])):
            yield name, each, Path(file)


def imported(name, loaded, file):
    """What a module imports anywhere, in its functions too."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join(filter(None, [*parts[: len(parts) - node.level + 1], base]))
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


try:
    __import__(module)
except BaseException as error:
    # The frames of this file and of the import itself do not help the author.
    frames = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in frames if not frame.filename.startswith("<") and frame.filename != __file__]
    if frames:
        print("Traceback (most recent call last):", file=sys.stderr)
        print("".join(traceback.format_list(frames)), end="", file=sys.stderr)
    print("".join(traceback.format_exception_only(error)), end="", file=sys.stderr)
    sys.exit(1)

from hookbox._subscribe import SUBSCRIPTIONS

names = {found for name, each, file in own(dict(sys.modules)) for found in imported(name, each, file)}
used = names | set(sys.modules)
capabilities = ["log", "config", "event"] + [c for c in ("state", "http", "llm") if f"hookbox.{c}" in used]
json.dump(
    {
        "events": sorted(SUBSCRIPTIONS),
        "imports": capabilities,
        # During a call there are no files to import from, so imports within functions are loaded in advance.
        "preloaded": sorted(names - {module}),
    },
    printed,
)
