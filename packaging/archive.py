#!/usr/bin/env python3
"""Packs a tar for one target: everything of the stage below one folder. usage: archive.py STAGE OUT"""
import pathlib
import sys

from common import Tar, VERSION, files, gzipped, write


def main(stage, out):
    target = (pathlib.Path(stage) / "target").read_text()
    top = f"hookbox-{VERSION}-{target}"
    tar = Tar()
    tar.folder(top)
    for name, path in files(stage).items():
        if name != "target":
            tar.file(f"{top}/{name}", path.read_bytes(), 0o755 if name == "hookbox" else 0o644)
    write(pathlib.Path(out) / f"{top}.tar.gz", gzipped(tar.bytes()))


if __name__ == "__main__":
    main(*sys.argv[1:])
