"""What the Python tool does with a project: a deflated zip file and its SHA-256."""

import hashlib
import os
import sys
import zipfile

root, target = sys.argv[1:]
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            archive.write(path, os.path.relpath(path, root))
digest = hashlib.sha256()
with open(target, "rb") as f:
    while chunk := f.read(1 << 20):
        digest.update(chunk)
print(digest.hexdigest())
