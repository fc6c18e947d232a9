#!/usr/bin/env python3
"""Packs a deb and an rpm for one target, with nfpm. usage: system.py STAGE OUT NFPM"""
import datetime
import os
import pathlib
import shutil
import string
import subprocess
import sys
import tempfile

from common import PACKAGING, REPOSITORY, ROOT, TARGETS, VERSION, epoch, files, gzipped, write

# Where zsh of either family looks.
ZSH = {"deb": "/usr/share/zsh/vendor-completions", "rpm": "/usr/share/zsh/site-functions"}


def main(stage, out, nfpm):
    machine = TARGETS[(pathlib.Path(stage) / "target").read_text()]["deb"]
    for kind, zsh in ZSH.items():
        with tempfile.TemporaryDirectory() as folder:
            whole = pathlib.Path(folder) / "stage"
            shutil.copytree(stage, whole)
            (whole / "man").mkdir()
            for page, path in files(whole / "man1").items():
                (whole / "man" / f"{page}.gz").write_bytes(gzipped(path.read_bytes()))
            unit = (ROOT / "deploy/hookbox.service").read_text().replace("/usr/local/bin/", "/usr/bin/")
            (whole / "hookbox.service").write_text(unit.replace("# /etc/systemd/system/hookbox.service\n", ""))
            for path in whole.rglob("*"):
                os.utime(path, (epoch(), epoch()))
            time = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            values = {"ARCH": machine, "VERSION": VERSION, "REPOSITORY": REPOSITORY, "STAGE": str(whole), "ZSH": zsh, "MTIME": time}
            config = pathlib.Path(folder) / "nfpm.yaml"
            config.write_text(string.Template((PACKAGING / "nfpm.yaml").read_text()).substitute(values))
            command = [nfpm, "package", "--config", config, "--packager", kind, "--target", folder]
            environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env=environment)
            [packed] = pathlib.Path(folder).glob(f"*.{kind}")
            write(pathlib.Path(out) / packed.name, packed.read_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
