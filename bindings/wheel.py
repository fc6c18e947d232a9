"""wheel.py PACKAGE OUT FLOOR: packs a package that `stage` laid out as a wheel for CPython 3.10 and later, in the folder OUT.

One build of the crates serves the wheel, the packages for npm and the compiler that both carry. maturin, which `pip install .` uses,
would build them once more. FLOOR is the oldest glibc that the libraries run on, such as 2.28.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import re
import sys
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
package, out, floor = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
project = tomllib.loads((HERE / "python/pyproject.toml").read_text())["project"]
found = re.search(r'^version = "(.+)"$', (HERE.parent / "Cargo.toml").read_text(), re.M)
assert found is not None
version, name = found[1], project["name"].replace("-", "_")
tag = f"cp310-abi3-manylinux_{floor.replace('.', '_')}_{platform.machine()}"
info = f"{name}-{version}.dist-info"

metadata = [
    "Metadata-Version: 2.4",
    f"Name: {project['name']}",
    f"Version: {version}",
    f"Summary: {project['description']}",
    f"License-Expression: {project['license']}",
    "License-File: LICENSE",
    f"Requires-Python: {project['requires-python']}",
    *(f"Classifier: {classifier}" for classifier in project["classifiers"]),
    *(f"Project-URL: {label}, {url}" for label, url in project["urls"].items()),
    "Description-Content-Type: text/markdown",
    "",
    (HERE / "python/README.md").read_text(),
]
wheel = ["Wheel-Version: 1.0", "Generator: hookbox", "Root-Is-Purelib: false", f"Tag: {tag}", ""]
files = {str(path.relative_to(package.parent)): path.read_bytes() for path in sorted(package.rglob("*")) if path.is_file()}
files[f"{info}/METADATA"] = "\n".join(metadata).encode()
files[f"{info}/WHEEL"] = "\n".join(wheel).encode()
files[f"{info}/licenses/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()

out.mkdir(parents=True, exist_ok=True)
target = out / f"{name}-{version}-{tag}.whl"
record = []
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:

    def put(path: str, content: bytes) -> None:
        # Nothing of the time or the machine, so that the same files are the same wheel.
        entry = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if path.endswith("/hookbox-compiler") else 0o100644) << 16
        archive.writestr(entry, content)

    for path, content in files.items():
        put(path, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(content)}")
    put(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]).encode())
print(target)
