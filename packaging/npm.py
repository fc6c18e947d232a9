#!/usr/bin/env python3
"""Packs for npm: `hookbox`, a launcher, and one package per platform with the program, among which npm chooses by `os` and
`cpu`. No script runs at installation, and nothing is downloaded. usage: npm.py OUT STAGE...
"""
import json
import pathlib
import sys

from common import DESCRIPTION, LICENSE, PACKAGING, REPOSITORY, TARGETS, Tar, VERSION, files, gzipped, write


def main(out, *stages):
    platforms = {}
    for stage in map(pathlib.Path, stages):
        system, machine = TARGETS[(stage / "target").read_text()]["node"]
        name = f"@hookbox/{system}-{machine}"
        platforms[f"{system} {machine}"] = name
        manifest = described(name, f"The program hookbox for {system} {machine}") | {"os": [system], "cpu": [machine]}
        content = {"bin/hookbox": (stage / "hookbox").read_bytes()}
        for file in ["LICENSE", "THIRD-PARTY.txt", "hookbox.cdx.json"]:
            if (stage / file).exists():
                content[file] = (stage / file).read_bytes()
        content |= {f"man1/{page}": path.read_bytes() for page, path in files(stage / "man1").items()}
        pack(out, manifest, content)
    manifest = described("hookbox", DESCRIPTION) | {
        "bin": {"hookbox": "bin/hookbox.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {name: VERSION for name in platforms.values()},
    }
    content = {"bin/hookbox.js": (PACKAGING / "npm/bin/hookbox.js").read_bytes(), "platforms.json": encoded(platforms)}
    content |= {name: (stage / name).read_bytes() for name in ["LICENSE", "README.md"]}
    pack(out, manifest, content)


def described(name, description):
    repository = {"type": "git", "url": f"git+{REPOSITORY}.git"}
    return {"name": name, "version": VERSION, "description": description, "license": LICENSE, "repository": repository}


def encoded(value):
    return (json.dumps(value, indent=2) + "\n").encode()


def pack(out, manifest, content):
    """A package as `npm pack` writes it: a tar below `package/`."""
    tar = Tar()
    for name, data in sorted((content | {"package.json": encoded(manifest)}).items()):
        tar.file(f"package/{name}", data, 0o755 if name.startswith("bin/") else 0o644)
    file = f"{manifest['name'].removeprefix('@').replace('/', '-')}-{VERSION}.tgz"
    write(pathlib.Path(out) / "npm" / file, gzipped(tar.bytes()))


if __name__ == "__main__":
    main(*sys.argv[1:])
