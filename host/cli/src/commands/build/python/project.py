"""What a hook's pyproject.toml says. Prints it as JSON."""

import json
import keyword
import re
import sys
import tomllib
from pathlib import Path


def fail(why):
    sys.exit(f"pyproject.toml: {why}")


folder = Path(sys.argv[1])
try:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
    fail(error)
name = project.get("name")
if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
    fail('it needs a name: [project] name = "guard"')

module = re.sub("[-.]", "_", name)
if keyword.iskeyword(module) or module in sys.stdlib_module_names or module in ("hookbox", "hookbox_app", "wit_world"):
    fail(f"the hook cannot be called {name}: `import {module}` means something else in Python already")
candidates = [(root, module) for root in (folder, folder / "src")]
for root, candidate in candidates:
    if (root / f"{candidate}.py").is_file() or (root / candidate / "__init__.py").is_file():
        break
else:
    fail(f"the hook {name} has no module: there is neither {module}.py nor src/{module}/__init__.py")

# hookbox adds its own SDK.
dependencies = [d for d in project.get("dependencies", []) if not re.match(r"hookbox[-_.]guest\b", d, re.IGNORECASE)]
print(json.dumps({"name": name, "module": module, "root": str(root), "dependencies": dependencies}))
