#!/usr/bin/env python3
"""Checks the bill of materials against the list that the compiler's wrapper wrote into the program. usage: bill.py FOLDER

That list also has macros, and crates that are optional and left out: it is made from `cargo metadata`, which knows no features.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import zlib

folder = pathlib.Path(sys.argv[1])
with tempfile.NamedTemporaryFile() as section:
    subprocess.run(["objcopy", "--dump-section", f".dep-v0={section.name}", folder / "hookbox", "/dev/null"], check=True)
    inside = json.loads(zlib.decompress(pathlib.Path(section.name).read_bytes()))
bill = json.loads((folder / "hookbox.cdx.json").read_text())
# `kind` is left out of those that are no build scripts.
linked = {(crate["name"], crate["version"]) for crate in inside["packages"] if "kind" not in crate}
listed = {(component["name"], component["version"]) for component in bill["components"]}
if listed - linked:
    raise SystemExit(f"error: not in the program: {sorted(listed - linked)}")
