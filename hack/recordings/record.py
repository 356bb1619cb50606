#!/usr/bin/python3
# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a scene on a terminal, and draws what they print as an animated SVG.

    record.py NAME.scene >NAME.svg

Each line of a scene is typed and run by a shell, in a copy of the directory SCENE with the scene's files. A line that begins with #
is shown as a comment; one that begins with : is run, but not shown. After "^C TEXT" alone, the next line's command gets Ctrl-C once it
has printed TEXT. KINETIC_BIN has the binaries. Needs pyte (Debian: python3-pyte).
"""

import fcntl
import html
import os
import pathlib
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pyte

COLUMNS, ROWS = 100, 26
LETTER, LINE, MARGIN = 8.4, 18, 14  # pixels
TYPING, AFTER_COMMAND, AT_THE_END, READING = 0.03, 1.0, 5.0, 3.0  # seconds
LONGEST = 1.2  # seconds that a picture stays while nothing happens: who looks need not wait as we did
KEPT = "PYTHONPATH", "KUBECONFIG", "LANG", "STORAGE_EMULATOR_HOST", "NO_PROXY", "no_proxy"  # of the environment
COLOURS = {
    "default": "#d4d7dd", "black": "#8b949e", "red": "#ef7a85", "green": "#9ece6a", "brown": "#e0c07a", "blue": "#7aa7f7",
    "magenta": "#c792ea", "cyan": "#67d4e8", "white": "#d4d7dd", "brightblack": "#7d8590",
}


class Recorder:
    """A terminal, and its pictures: when each was first seen, and its rows as SVG."""

    def __init__(self):
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.pictures = []
        self.now = 0.0

    def show(self, data, seconds):
        """Write to the terminal, so many seconds after the last time."""
        self.now += min(seconds, LONGEST)
        self.stream.feed(data)
        rows = tuple(row(self.screen.buffer[y]) for y in range(ROWS))
        if not self.pictures or self.pictures[-1][1] != rows:
            self.pictures.append((self.now, rows))

    def type(self, text):
        """Write a command as somebody types it."""
        self.show(b"\x1b[32m$\x1b[0m ", 0)
        for at in range(0, len(text), 3):
            self.show(text[at : at + 3].encode(), 3 * TYPING)
        self.show(b"\r\n", AFTER_COMMAND / 3)

    def run(self, command, directory, until=""):
        """Run a command of the shell on the terminal, and press Ctrl-C a while after it has printed a text."""
        child, terminal = pty.fork()
        if child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.chdir(directory)
            os.execvp("bash", ["bash", "-c", command])
        last, printed, pressing = time.monotonic(), b"", None
        while True:
            if not select.select([terminal], [], [], pressing and max(pressing - time.monotonic(), 0))[0]:
                os.write(terminal, b"\x03")
                pressing = None
                continue
            try:
                data = os.read(terminal, 65536)
            except OSError:  # the end
                break
            now = time.monotonic()
            self.show(data, now - last)
            last, printed = now, printed + data
            if until and until.encode() in printed:
                until, pressing = "", now + READING
        os.waitpid(child, 0)
        self.now += AFTER_COMMAND


def row(cells):
    """Return the SVG of a row of the terminal, without its place."""
    parts, begin = [], 0
    while begin < COLUMNS:
        style = cells[begin].fg, cells[begin].bold
        end = begin
        while end < COLUMNS and (cells[end].fg, cells[end].bold) == style:
            end += 1
        text = "".join(cells[x].data for x in range(begin, end)).rstrip() if end == COLUMNS else "".join(cells[x].data for x in range(begin, end))
        if text.strip():
            bold = ' font-weight="bold"' if style[1] else ""
            colour = COLOURS.get(style[0], COLOURS["default"])
            parts.append(f'<tspan x="{begin * LETTER:g}" fill="{colour}"{bold}>{html.escape(text, quote=False)}</tspan>')
        begin = end
    return "".join(parts)


def svg(pictures, seconds):
    """Return the animation. Who wants no motion sees the last picture."""
    height = max(y for _, rows in pictures for y, text in enumerate(rows) if text) + 1
    kept = {}
    for _, rows in pictures:
        for text in rows:
            kept.setdefault(text, f"r{len(kept)}")
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * LETTER + 2 * MARGIN:g} {height * LINE + 2 * MARGIN}" '
        'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" xml:space="preserve">',
        "<style>text{white-space:pre}g.p{visibility:hidden}",
    ]
    for number, (begin, _) in enumerate(pictures):
        end = pictures[number + 1][0] if number + 1 < len(pictures) else seconds
        first, last = 100 * begin / seconds, 100 * end / seconds
        out.append(f"@keyframes p{number}{{{first:.2f}%{{visibility:visible}}{last:.2f}%{{visibility:hidden}}}}#p{number}{{animation:p{number} {seconds:.1f}s step-end infinite}}")
    still = f"@media (prefers-reduced-motion:reduce){{g.p{{animation:none!important}}#p{len(pictures) - 1}{{visibility:visible}}}}"
    out.append(f'{still}</style><rect width="100%" height="100%" rx="8" fill="#1e2128"/><defs>')
    out += [f'<text id="{name}">{text}</text>' for text, name in kept.items() if text]
    out.append("</defs>")
    for number, (_, rows) in enumerate(pictures):
        lines = "".join(f'<use href="#{kept[text]}" x="{MARGIN}" y="{MARGIN + (y + 1) * LINE - 5}"/>' for y, text in enumerate(rows) if text)
        out.append(f'<g class="p" id="p{number}">{lines}</g>')
    return "\n".join([*out, "</svg>"]) + "\n"


def play(recorder, scene, directory):
    """Type and run the lines of a scene."""
    until = ""
    for line in scene.read_text(encoding="utf-8").splitlines():
        if line.startswith("^C "):
            until = line[3:]
        elif line.startswith(":"):
            subprocess.run(["bash", "-c", line[1:]], cwd=directory, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        elif line.startswith("#"):
            recorder.show(f"\x1b[90m{line}\x1b[0m\r\n".encode(), AFTER_COMMAND)
        elif line:
            recorder.type(line)
            recorder.run(line, directory, until)
            until = ""


def main():
    scene = pathlib.Path(sys.argv[1]).resolve()
    files = scene.with_suffix("")
    recorder = Recorder()
    directory = pathlib.Path("/tmp/demo")  # a path that may be seen; it must not exist
    with tempfile.TemporaryDirectory() as home:
        shutil.copytree(files, directory)
        path = f"{os.environ['KINETIC_BIN']}:/usr/local/bin:/usr/bin:/bin"
        kept = {name: value for name, value in os.environ.items() if name.startswith("KINETIC_") or name in KEPT}
        os.environ.clear()
        os.environ.update(kept, PATH=path, HOME=home, TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(ROWS))
        try:
            play(recorder, scene, directory)
        finally:
            shutil.rmtree(directory)
    sys.stdout.write(svg(recorder.pictures, recorder.now + AT_THE_END))


if __name__ == "__main__":
    main()
