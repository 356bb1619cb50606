# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Install a wheel into a virtual environment, as pip would. The client's package wheel does the same for images."""

import base64
import configparser
import csv
import hashlib
import io
import os
import re
import stat
import zipfile
import zlib

from ..documents import check_path
from ..errors import BadEnvironment, RunnerError, naming
from ..text import BLOCK, write_all

# What reading an archive that is no wheel may raise. Another wheel may have a file at the place of a directory.
BROKEN = (
    RunnerError, ValueError, RuntimeError, EOFError, IsADirectoryError, NotADirectoryError, FileExistsError,
    zipfile.BadZipFile, zlib.error, configparser.Error,
)  # fmt: skip
REPLACED = ("RECORD", "RECORD.jws", "RECORD.p7s", "INSTALLER")  # in .dist-info
WRAPPER = re.compile(r"(.+?)(?:\.exe|-script\.py|\.pya)?", re.IGNORECASE)  # what setuptools makes of an entry point
COMMAND = re.compile(r"[\w.+-]+(?: [\w.+-]+)*")
FUNCTION = re.compile(r"([\w.]+)\s*:\s*((\w+)[\w.]*)\s*(?:\[.*\])?(?:\s#.*)?")
SCRIPT = 'import sys\nfrom {} import {}\nif __name__ == "__main__":\n    sys.exit({}())\n'


def install(path, title, venv):
    """Install the wheel in a file, and return the paths of its files, relative to site-packages. Raise BadEnvironment with its title if it is not a proper wheel."""
    try:
        with zipfile.ZipFile(path) as archive:
            return Wheel(archive, venv).install()
    except BROKEN as exc:
        raise BadEnvironment(f"cannot install {title}: {exc}: use another release of the package, or build the wheel again") from None


class Wheel:
    """A wheel that is being installed."""

    def __init__(self, archive, venv):
        self._archive, self._venv = archive, venv
        self._made = set()  # directories
        self._rows = {}  # of the new RECORD, by path
        self._members = {}  # of two with one name, the last one
        for member in archive.infolist():
            name = check_path(member.orig_filename.removesuffix("/"), "the archive")
            if member.orig_filename.endswith("/"):
                continue
            self._members[name] = member
        infos = {name.partition("/")[0] for name in self._members if re.match(r"[^/]+\.dist-info/", name)}
        if len(infos) != 1:
            raise ValueError(f"it has {len(infos)} .dist-info directories, not one")
        self._info = infos.pop()
        version = re.search(r"^Wheel-Version:\s*(\S*)", self._text("WHEEL"), re.IGNORECASE | re.MULTILINE)
        if not version or not version[1].startswith("1."):
            raise ValueError(f"its format has version {version[1] if version else 'unknown'!r}, only 1.x is known")

    def install(self):
        """Write all files."""
        commands = self._commands()
        # In pip's order: of two files for one place, the last one stays.
        for name in sorted(self._members, key=lambda name: name.partition("/")[0].endswith(".data")):
            member = self._members[name]
            target, kind = self._place(name)
            if target is None or kind == "scripts" and WRAPPER.fullmatch(os.path.basename(target))[1] in commands:
                continue
            with self._archive.open(member) as source:
                if kind == "scripts":
                    self._write(target, self._script(source), True)
                else:
                    mode = member.external_attr >> 16
                    self._write(target, blocks(source), stat.S_ISREG(mode) and mode & 0o111)
        for name, text in commands.items():
            self._write(os.path.join(self._venv.bin, name), [(self._venv.shebang + text).encode()], True)
        self._write(os.path.join(self._venv.site, self._info, "INSTALLER"), [b"kinetic\n"])
        return [*self._rows, self._write_record()]

    def _text(self, name):
        """Return the text of a file in .dist-info that every wheel has."""
        member = self._members.get(f"{self._info}/{name}")
        if member is None:
            raise ValueError(f"it has no {self._info}/{name}")
        return self._archive.read(member).decode()

    def _commands(self):
        """Return the scripts that call entry points, by name."""
        if f"{self._info}/entry_points.txt" not in self._members:
            return {}
        parser = configparser.ConfigParser(delimiters="=", interpolation=None, strict=False, allow_no_value=True)
        parser.optionxform = str
        parser.read_string(self._text("entry_points.txt"))
        found = {}
        for group in filter(parser.has_section, ("console_scripts", "gui_scripts")):
            for name, value in parser[group].items():
                function = FUNCTION.fullmatch(value or "")
                if not function or not COMMAND.fullmatch(name) or name in (".", ".."):
                    raise ValueError(f"entry_points.txt: {name!r:.80} = {value!r:.80} is not of the form name = module:function")
                found[name] = SCRIPT.format(function[1], function[3], function[2])
        return found

    def _place(self, name):
        """Return where a member belongs, None for nowhere, and its directory of .data."""
        venv = self._venv
        top, _, rest = name.partition("/")
        if top == self._info and rest in REPLACED:
            return None, ""
        if not top.endswith(".data") or not rest:
            return os.path.join(venv.site, name), ""
        kind, _, rest = rest.partition("/")
        folders = {"purelib": venv.site, "platlib": venv.site, "data": venv.path, "scripts": venv.bin}
        folders["headers"] = os.path.join(venv.headers, self._info.partition("-")[0])
        if kind not in folders or not rest:
            raise ValueError(f"{name} is not in one of the directories {', '.join(folders)}")
        return os.path.join(folders[kind], rest), kind

    def _script(self, source):
        """Yield a script, whose first line names the interpreter of the environment if it says #!python."""
        first = source.readline()
        yield self._venv.shebang.encode() if first.startswith(b"#!python") else first
        yield from blocks(source)

    def _write(self, path, content, executable=False):
        """Write a file and note it for RECORD."""
        if path in self._venv.own:
            raise ValueError(f"it has a file for {path}, which belongs to the environment")
        folder = os.path.dirname(path)
        if folder not in self._made:
            os.makedirs(folder, exist_ok=True)
            self._made.add(folder)
        if os.path.lexists(path):
            os.unlink(path)  # as with pip, the later one wins
        digest, size = hashlib.sha256(), 0
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777 if executable else 0o666), "wb", buffering=0) as file:
            for block in content:
                with naming(path):
                    write_all(file.fileno(), block)
                digest.update(block)
                size += len(block)
        text = base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")
        self._rows[os.path.relpath(path, self._venv.site)] = f"sha256={text}", size

    def _write_record(self):
        path, text = os.path.join(self._venv.site, self._info, "RECORD"), io.StringIO()
        name = os.path.relpath(path, self._venv.site)
        if name in self._rows:
            raise ValueError(f"it has a file for {path}, its own RECORD")
        self._rows[name] = "", ""
        csv.writer(text, lineterminator="\n").writerows((name, *row) for name, row in sorted(self._rows.items()))
        self._write(path, [text.getvalue().encode()])
        return name


def blocks(source):
    """Yield the bytes of a file."""
    while block := source.read(BLOCK):
        yield block
