#!/usr/bin/env python3
"""Wrap a root file system as container images that differ only in their command.

    oci.py ROOTFS.tar OUT.tar NAME:TAG=COMMAND...
"""

import hashlib
import io
import json
import os
import platform
import sys
import tarfile

MEDIA = "application/vnd.oci.image."
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def add(archive, path, data):
    """Add bytes to a tar archive."""
    info = tarfile.TarInfo(path)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def add_blob(archive, data, media):
    """Add bytes by their hash, and return the descriptor that refers to them."""
    digest = hashlib.sha256(data).hexdigest()
    add(archive, "blobs/sha256/" + digest, data)
    return {"mediaType": MEDIA + media, "digest": "sha256:" + digest, "size": len(data)}


def add_image(archive, layer, name, command):
    """Add an image of one layer, and return its entry in the index."""
    config = {
        "architecture": ARCHITECTURE,
        "os": "linux",
        "config": {"Env": ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"], "Cmd": command.split()},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": MEDIA + "manifest.v1+json",
        "config": add_blob(archive, json.dumps(config).encode(), "config.v1+json"),
        "layers": [layer],
    }
    entry = add_blob(archive, json.dumps(manifest).encode(), "manifest.v1+json")
    return entry | {"annotations": {"io.containerd.image.name": name}}


def main(rootfs, out, *images):
    """Write the archive beside OUT first: what is there is always whole."""
    with open(rootfs, "rb") as f:
        data = f.read()
    with tarfile.open(out + ".new", "w") as archive:
        layer = add_blob(archive, data, "layer.v1.tar")
        entries = [add_image(archive, layer, *image.split("=")) for image in images]
        add(archive, "index.json", json.dumps({"schemaVersion": 2, "manifests": entries}).encode())
        add(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
    os.rename(out + ".new", out)


main(*sys.argv[1:])
