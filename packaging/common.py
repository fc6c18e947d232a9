"""What every packer shares: the version, the targets, the time of all files, and archives that are the same each time.

A packer takes a stage, the folder that `stage.py` makes for one target, and writes one kind of package.
"""
import gzip
import hashlib
import io
import os
import pathlib
import subprocess
import tarfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"

DESCRIPTION = "Runs AI agents' hooks as sandboxed WebAssembly components"
LICENSE = "Apache-2.0 WITH LLVM-exception"

# Names of one platform in each world.
TARGETS = {
    "x86_64-unknown-linux-musl": {"node": ("linux", "x64"), "wheel": "x86_64", "oci": "amd64", "deb": "amd64", "zig": "x86_64-linux-musl"},
    "aarch64-unknown-linux-musl": {"node": ("linux", "arm64"), "wheel": "aarch64", "oci": "arm64", "deb": "arm64", "zig": "aarch64-linux-musl"},
}


def manifest():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]


VERSION = manifest()["version"]
REPOSITORY = manifest()["repository"]


def epoch():
    """The time of every file in every package: SOURCE_DATE_EPOCH, or the time of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        command = ["git", "log", "-1", "--format=%ct"]
        given = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return int(given)


def files(folder):
    """Files below a folder, by their path in it, sorted."""
    folder = pathlib.Path(folder)
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


class Tar:
    """A tar whose bytes depend on its content alone."""

    def __init__(self):
        self._bytes = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._bytes, mode="w", format=tarfile.PAX_FORMAT)
        self._mtime = epoch()

    def _info(self, name, mode, owner):
        info = tarfile.TarInfo(name)
        info.mode, info.mtime, info.uid, info.gid = mode, self._mtime, owner, owner
        return info

    def file(self, name, content, mode=0o644, owner=0):
        info = self._info(name, mode, owner)
        info.size = len(content)
        self._tar.addfile(info, io.BytesIO(content))

    def folder(self, name, mode=0o755, owner=0):
        info = self._info(name, mode, owner)
        info.type = tarfile.DIRTYPE
        self._tar.addfile(info)

    def bytes(self):
        self._tar.close()
        return self._bytes.getvalue()


def gzipped(content):
    """Content as gzip, without a name or a time."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", compresslevel=9, mtime=0) as stream:
        stream.write(content)
    return packed.getvalue()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def write(path, content):
    """Writes a package and prints its name and size."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    print(f"{path.name}   {len(content) / 1e6:.1f} MB")
