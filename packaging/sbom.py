#!/usr/bin/env python3
"""Writes the bill of materials of the program for one target (CycloneDX 1.5): every crate that is linked into it, with its
licence, its checksum and what it depends on. usage: sbom.py TARGET TOOLS OUT
"""
import json
import pathlib
import re
import subprocess
import sys

import licences
from common import ROOT

# The tool writes a file beside the manifest of every crate of the workspace.
NAME = "bill-of-materials"


def main(target, tools, out):
    command = [f"{tools}/bin/cargo-cyclonedx", "cyclonedx", "--quiet", "--manifest-path", "host/cli/Cargo.toml", "--format", "json",
               "--target", target, "--no-build-deps", "--spec-version", "1.5", "--override-filename", NAME]
    try:
        subprocess.run(command, cwd=ROOT, check=True)
        text = (ROOT / f"host/cli/{NAME}.json").read_text()
    finally:
        for folder in licences.sources().values():
            (folder / f"{NAME}.json").unlink(missing_ok=True)
    pathlib.Path(out).write_text(json.dumps(of_program(text, target), indent=1) + "\n")


def of_program(text, target):
    """The bill without crates that only tests, tools and build scripts use, and without paths of this machine."""
    # path+file:///FOLDER/host/cli#hookbox-cli@0.1.0
    text = re.sub(r'path\+file://[^"#]*#', "", text)
    text = re.sub(r'\?download_url=file://[^"]*', "", text)
    bill = json.loads(text)
    linked = {(name, version) for name, version, _ in licences.linked(target)}

    def is_linked(component):
        return component["name"].startswith("hookbox") or (component["name"], component["version"]) in linked

    bill["components"] = [component for component in bill["components"] if is_linked(component)]
    known = {component["bom-ref"] for component in [bill["metadata"]["component"], *bill["components"]]}
    bill["dependencies"] = [
        {"ref": entry["ref"], "dependsOn": [ref for ref in entry.get("dependsOn", []) if ref in known]}
        for entry in bill["dependencies"] if entry["ref"] in known
    ]
    missing = linked - {(component["name"], component["version"]) for component in bill["components"]}
    if missing:
        raise SystemExit(f"error: the bill of materials has no {sorted(missing)}")
    return bill


if __name__ == "__main__":
    main(*sys.argv[1:])
