#!/usr/bin/env python3
"""Packs a wheel with the program: `pip` puts it beside `python`, so no interpreter stands before it. usage: wheel.py STAGE OUT

The format: https://packaging.python.org/specifications/binary-distribution-format. maturin would build the program a second time.
"""
import base64
import hashlib
import io
import pathlib
import sys
import time
import zipfile

from common import DESCRIPTION, LICENSE, REPOSITORY, TARGETS, VERSION, epoch, files, write

METADATA = f"""\
Metadata-Version: 2.4
Name: hookbox-cli
Version: {VERSION}
Summary: {DESCRIPTION}
License-Expression: {LICENSE}
License-File: LICENSE
License-File: THIRD-PARTY.txt
Project-URL: Repository, {REPOSITORY}
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""


def main(stage, out):
    stage = pathlib.Path(stage)
    machine = TARGETS[(stage / "target").read_text()]["wheel"]
    # The program is static: both kinds of Linux have what it needs.
    tags = [f"py3-none-manylinux2014_{machine}", f"py3-none-manylinux_2_17_{machine}", f"py3-none-musllinux_1_1_{machine}"]
    name, info, data = f"hookbox_cli-{VERSION}", f"hookbox_cli-{VERSION}.dist-info", f"hookbox_cli-{VERSION}.data"
    content = {f"{data}/scripts/hookbox": (stage / "hookbox").read_bytes()}
    for page, path in files(stage / "man1").items():
        content[f"{data}/data/share/man/man1/{page}"] = path.read_bytes()
    content[f"{info}/METADATA"] = (METADATA + (stage / "README.md").read_text()).encode()
    wheel = ["Wheel-Version: 1.0", "Generator: hookbox", "Root-Is-Purelib: false", *(f"Tag: {tag}" for tag in tags)]
    content[f"{info}/WHEEL"] = ("\n".join(wheel) + "\n").encode()
    for licence in ["LICENSE", "THIRD-PARTY.txt"]:
        content[f"{info}/licenses/{licence}"] = (stage / licence).read_bytes()
    if (stage / "hookbox.cdx.json").exists():
        # PEP 770.
        content[f"{info}/sboms/hookbox.cdx.json"] = (stage / "hookbox.cdx.json").read_bytes()
    lines = [f"{path},sha256={digest(content[path])},{len(content[path])}" for path in content]
    content[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    file = f"{name}-py3-none-manylinux2014_{machine}.manylinux_2_17_{machine}.musllinux_1_1_{machine}.whl"
    write(pathlib.Path(out) / file, packed(content))


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def packed(content):
    """A zip whose bytes depend on its content alone."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in content.items():
            entry = zipfile.ZipInfo(path, time.gmtime(epoch())[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
            archive.writestr(entry, data)
    return stream.getvalue()


if __name__ == "__main__":
    main(*sys.argv[1:])
