"""Make the wheels of 26 projects again from what is installed, and some with other contents.

    wheels.py DIRECTORY PROJECT NUMBER

A project that is not installed is made of modules of Python's own library, of about the same
size. NUMBER is how many other versions of PROJECT are made, too. Standard output gets the list
of them as JSON: project, version, file, SHA-256.
"""

import base64
import hashlib
import importlib.metadata as metadata
import itertools
import json
import os
import re
import sys
import sysconfig
import zipfile

# Flask, boto3, pydantic, cryptography, networkx, sympy, PyYAML and what they need: how many
# megabytes the files of each have.
PROJECTS = {
    "annotated-types": 0.04, "blinker": 0.03, "boto3": 1.1, "botocore": 27, "cffi": 1.4, "click": 0.5, "cryptography": 14,
    "flask": 0.4, "itsdangerous": 0.05, "jinja2": 0.6, "jmespath": 0.1, "markupsafe": 0.07, "mpmath": 2.5, "networkx": 8,
    "pycparser": 0.2, "pydantic": 2, "pydantic-core": 5, "python-dateutil": 0.8, "pyyaml": 2.9, "s3transfer": 0.4, "six": 0.04,
    "sympy": 31, "typing-extensions": 0.2, "typing-inspection": 0.06, "urllib3": 0.6, "werkzeug": 1.1,
}  # fmt: skip


class Project:
    def __init__(self, name):
        self.name, self.version, self.tags, self.files = name, "1.0", ["py3-none-any"], []
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            self.generate()
        else:
            self.read(found)

    def read(self, found):
        """Find the files of an installed project."""
        self.version = found.version
        self.tags = re.findall(r"^Tag: (\S+)$", found.read_text("WHEEL"), re.MULTILINE)
        for file in found.files:
            path = str(file)
            name = os.path.basename(path)
            if path.startswith("..") or "__pycache__" in path or ".dist-info/" in path and name not in ("METADATA", "entry_points.txt", "top_level.txt"):
                continue
            if ".dist-info/" not in path:
                self.files.append((path, file.locate().read_bytes()))

    def generate(self):
        """Take modules of Python's library, until there is enough."""
        library = sysconfig.get_path("stdlib")
        modules = sorted(os.path.join(top, name) for top, _, names in os.walk(library) if "site-packages" not in top for name in names if name.endswith(".py"))
        size = 0
        for number, path in enumerate(itertools.cycle(modules)):
            if size > PROJECTS[self.name] * 1e6:
                return
            with open(path, "rb") as file:
                data = file.read()
            size += len(data)
            self.files.append((f"{self.name.replace('-', '_')}/part{number % 20}/m{number}.py", data))

    def write(self, directory, change=0):
        """Write the wheel, of another version if it is changed."""
        version, files = self.version, list(self.files)
        if change:
            version += f".post{change}"
            files.append((f"{self.name.replace('-', '_')}_change.py", f"CHANGE = {change}\n".encode()))
        title = f"{self.name.replace('-', '_')}-{version}"
        python, abi, platform = (".".join(dict.fromkeys(part)) for part in zip(*(tag.split("-") for tag in self.tags)))
        files.append((f"{title}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {version}\n".encode()))
        tags = "".join(f"Tag: {tag}\n" for tag in self.tags)
        files.append((f"{title}.dist-info/WHEEL", f"Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: {'false' if 'any' != platform else 'true'}\n{tags}".encode()))
        rows = [(name, f"sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')}", len(data)) for name, data in files]
        rows.append((f"{title}.dist-info/RECORD", "", ""))
        files.append((rows[-1][0], "".join(",".join(map(quote, row)) + "\n" for row in rows).encode()))
        path = os.path.join(directory, f"{title}-{python}-{abi}-{platform}.whl")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files:
                archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        return {"project": self.name, "version": version, "file": os.path.basename(path), "sha256": digest, "files": len(files)}


def quote(value):
    text = str(value)
    return f'"{text}"' if "," in text else text


def main(directory, changed, number):
    made = []
    for name in PROJECTS:
        project = Project(name)
        made.append(project.write(directory))
        if name == changed:
            made += [project.write(directory, change) for change in range(1, int(number) + 1)]
    json.dump(made, sys.stdout)


main(*sys.argv[1:])
