#!/usr/bin/env python3
"""Packs a container image for all targets from no base image: an OCI image layout in one tar. usage: oci.py OUT STAGE...

The format: https://github.com/opencontainers/image-spec. Load it with `podman load`, `skopeo copy oci-archive:…` or
`docker load` (25 and later).
"""
import datetime
import json
import pathlib
import sys

from common import DESCRIPTION, LICENSE, REPOSITORY, TARGETS, Tar, VERSION, epoch, gzipped, sha256, write

# The user that distroless images call `nonroot`.
USER = 65532
MEDIA = "application/vnd.oci.image"


def main(out, *stages):
    blobs = {}

    def blob(kind, content):
        digest = sha256(content)
        blobs[digest] = content
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}

    def encoded(value):
        return json.dumps(value, sort_keys=True).encode()

    manifests = []
    for stage in map(pathlib.Path, stages):
        machine = TARGETS[(stage / "target").read_text()]["oci"]
        tar = layer(stage)
        config = blob(f"{MEDIA}.config.v1+json", encoded(settings(machine, sha256(tar))))
        layers = [blob(f"{MEDIA}.layer.v1.tar+gzip", gzipped(tar))]
        manifest = {"schemaVersion": 2, "mediaType": f"{MEDIA}.manifest.v1+json", "config": config, "layers": layers,
                    "annotations": annotations()}
        described = blob(f"{MEDIA}.manifest.v1+json", encoded(manifest))
        manifests.append(described | {"platform": {"os": "linux", "architecture": machine}})
    both = blob(f"{MEDIA}.index.v1+json", encoded(
        {"schemaVersion": 2, "mediaType": f"{MEDIA}.index.v1+json", "manifests": manifests, "annotations": annotations()}))
    named = both | {"annotations": {"org.opencontainers.image.ref.name": f"hookbox:{VERSION}"}}

    tar = Tar()
    tar.file("oci-layout", encoded({"imageLayoutVersion": "1.0.0"}))
    tar.file("index.json", encoded({"schemaVersion": 2, "mediaType": f"{MEDIA}.index.v1+json", "manifests": [named]}))
    for digest, content in sorted(blobs.items()):
        tar.file(f"blobs/sha256/{digest}", content)
    write(pathlib.Path(out) / f"hookbox-{VERSION}-oci.tar", tar.bytes())


def layer(stage):
    tar = Tar()
    for folder in ["etc", "etc/hookbox", "usr", "usr/bin", "usr/share", "usr/share/doc", "usr/share/doc/hookbox", "var", "var/lib"]:
        tar.folder(folder)
    tar.folder("tmp", 0o1777)
    tar.folder("var/lib/hookbox", 0o700, USER)
    tar.file("etc/passwd", f"root:x:0:0::/:/bin/false\nhookbox:x:{USER}:{USER}::/var/lib/hookbox:/bin/false\n".encode())
    tar.file("etc/group", f"root:x:0:\nhookbox:x:{USER}:\n".encode())
    tar.file("usr/bin/hookbox", (stage / "hookbox").read_bytes(), 0o755)
    for name in ["LICENSE", "THIRD-PARTY.txt", "hookbox.cdx.json"]:
        if (stage / name).exists():
            tar.file(f"usr/share/doc/hookbox/{name}", (stage / name).read_bytes())
    return tar.bytes()


def created():
    return datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def annotations():
    prefix = "org.opencontainers.image"
    return {f"{prefix}.title": "hookbox", f"{prefix}.description": DESCRIPTION, f"{prefix}.version": VERSION,
            f"{prefix}.licenses": LICENSE, f"{prefix}.source": REPOSITORY, f"{prefix}.created": created()}


def settings(machine, diff):
    return {
        "architecture": machine,
        "os": "linux",
        "created": created(),
        "config": {
            "User": f"{USER}:{USER}",
            "Entrypoint": ["/usr/bin/hookbox"],
            "Cmd": ["serve", "--config", "/etc/hookbox/serve.json"],
            # Compiled hooks and state; everything else may be read-only.
            "Env": ["XDG_CACHE_HOME=/var/lib/hookbox/cache", "XDG_STATE_HOME=/var/lib/hookbox/state", "PATH=/usr/bin"],
            "ExposedPorts": {"8750/tcp": {}, "8751/tcp": {}},
            "Volumes": {"/var/lib/hookbox": {}},
            "WorkingDir": "/var/lib/hookbox",
            "Labels": annotations(),
            # Docker's; others ignore it. Times in nanoseconds.
            "Healthcheck": {"Test": ["CMD", "/usr/bin/hookbox", "health", "--config", "/etc/hookbox/serve.json"], "Interval": 10_000_000_000, "Timeout": 3_000_000_000},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{diff}"]},
        "history": [{"created": created(), "created_by": "packaging/oci.py"}],
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
