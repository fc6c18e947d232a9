#!/usr/bin/env python3
"""Packs the sources, and writes the Homebrew formula that builds from them. usage: formula.py OUT"""
import pathlib
import subprocess
import sys

from common import DESCRIPTION, PACKAGING, REPOSITORY, ROOT, VERSION, gzipped, sha256, write


def main(out):
    top = f"hookbox-{VERSION}"
    command = ["git", "archive", "--format=tar", f"--prefix={top}/", "HEAD"]
    sources = gzipped(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    write(pathlib.Path(out) / f"{top}-source.tar.gz", sources)
    values = {"DESCRIPTION": DESCRIPTION.replace("AI agents' hooks", "hooks of AI agents"), "REPOSITORY": REPOSITORY,
              "VERSION": VERSION, "SHA256": sha256(sources)}
    formula = (PACKAGING / "hookbox.rb").read_text()
    for name, value in values.items():
        formula = formula.replace(f"@{name}@", value)
    write(pathlib.Path(out) / "hookbox.rb", formula.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
