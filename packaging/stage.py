#!/usr/bin/env python3
"""Lays out for one target what all its packages carry: the program, manual pages, completions, licences, bill of materials.

usage: stage.py TARGET PROGRAM PAGES ZIG STAGE [SBOM]
"""
import pathlib
import shutil
import sys

import licences
from common import ROOT


def main(target, program, pages, zig, stage, sbom=None):
    stage = pathlib.Path(stage)
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    shutil.copy(program, stage / "hookbox")
    (stage / "hookbox").chmod(0o755)
    (stage / "target").write_text(target)
    for folder in ["man1", "completions"]:
        shutil.copytree(pathlib.Path(pages) / folder, stage / folder)
    for name in ["LICENSE", "CHANGELOG.md"]:
        shutil.copy(ROOT / name, stage / name)
    shutil.copy(ROOT / "packaging/README.package.md", stage / "README.md")
    (stage / "THIRD-PARTY.txt").write_text(licences.text(target, zig))
    if sbom:
        shutil.copy(sbom, stage / "hookbox.cdx.json")


if __name__ == "__main__":
    main(*sys.argv[1:])
