#!/usr/bin/env python3
"""Writes the licences of everything that is linked into the program. usage: licences.py TARGET [ZIG]

Without the folder of the package `ziglang` it writes nothing, and only checks that there is a licence for every crate.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

from common import ROOT

# Files of a crate that state its licence.
NAMES = re.compile(r"^(licen[sc]e|copying|unlicense|notice|copyright)", re.IGNORECASE)
# Licences of crates without such a file, if their manifest offers one of these: LICENSE of this project is Apache 2.0
# with the exception of LLVM.
WITHOUT_FILE = {"Apache-2.0", "Apache-2.0 WITH LLVM-exception"}
# Linked beside crates: the standard library's text is that of many crates; the others' stand in zig's folder.
BESIDE = """\
The Rust standard library (https://www.rust-lang.org), MIT OR Apache-2.0.
SQLite (https://sqlite.org), public domain, in the crate libsqlite3-sys.
musl (https://musl.libc.org), MIT, and LLVM's libunwind (https://llvm.org), Apache-2.0 WITH LLVM-exception: texts below.
"""
ZIG = {"musl": "lib/libc/musl/COPYRIGHT", "libunwind": "lib/libunwind/LICENSE.TXT"}


# The hooks that the program brings, and the target that they are compiled for.
HOOKS = ["hookbox-command-guard", "hookbox-file-guard", "hookbox-secret-redactor"]
HOOKS_TARGET = "wasm32-unknown-unknown"


def linked(target, package="hookbox-cli"):
    """Crates that are linked into a package for a target: (name, version, licence), sorted."""
    command = ["cargo", "tree", "--locked", "--package", package, "--edges", "normal,no-proc-macro", "--target", target,
               "--prefix", "none", "--format", "{p}|{l}"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    crates = set()
    for line in lines:
        package, licence = line.removesuffix(" (*)").split("|")
        name, version = package.split(" ")[:2]
        if not name.startswith("hookbox"):
            crates.add((name, version.removeprefix("v"), licence.removesuffix(" (*)")))
    return sorted(crates)


def sources():
    """Folders of crates in the local registry, by name and version."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    metadata = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {(package["name"], package["version"]): pathlib.Path(package["manifest_path"]).parent
            for package in json.loads(metadata)["packages"]}


def licensed(target):
    """The crates in the packages for a target: (name and version, licence, its files), sorted."""
    crates = sorted(set(linked(target)).union(*(linked(HOOKS_TARGET, hook) for hook in HOOKS)))
    folders = sources()
    for name, version, licence in crates:
        files = [path for path in sorted(folders[name, version].iterdir()) if path.is_file() and NAMES.match(path.name)]
        if not files and WITHOUT_FILE.isdisjoint(licence.split(" OR ")):
            raise SystemExit(f"error: {name} {version} ({licence}) has no licence file: add its text to packaging/licences.py")
        yield f"{name} {version}", licence, files or [ROOT / "LICENSE"]


def text(target, zig):
    """All licences, each text once with the crates that it covers. zig: the folder of the package `ziglang`."""
    crates = list(licensed(target))
    covered, texts = collections.defaultdict(list), {}

    def covers(path, name):
        licence = path.read_text(errors="replace").strip()
        # Line breaks and indentation make no other licence.
        key = " ".join(licence.split())
        covered[key].append(name)
        texts.setdefault(key, licence)

    for name, path in ZIG.items():
        covers(pathlib.Path(zig) / path, name)
    for name, _, files in crates:
        for path in files:
            covers(path, name)
    lines = ["Software in the program `hookbox`, with its licences.", "", BESIDE]
    lines += [f"{name}: {licence}" for name, licence, _ in crates]
    for key, names in sorted(covered.items(), key=lambda item: item[1]):
        lines += ["", "=" * 100, ", ".join(names), "-" * 100, texts[key]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    match sys.argv[1:]:
        case [target, zig]:
            print(text(target, zig), end="")
        case [target]:
            print(len(list(licensed(target))), "crates have a licence")
        case _:
            raise SystemExit(__doc__)
