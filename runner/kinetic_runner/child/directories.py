# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The outputs of each input of a map: a directory of its own, with the number of the input."""

import os

LOOKED_AT = 5_000  # files and directories in search of what an input writes elsewhere
NAMED = 3  # files in a sentence


class Directories:
    """Gives each input its own outputs, INDEX below those of the job, before it starts.

    In a mounted bucket it does not look for what an input writes elsewhere, which would take many requests.
    """

    def __init__(self, environ, numbers, mounted):
        self._url, self._path = environ["KINETIC_OUTPUT_DIR"].rstrip("/"), environ["KINETIC_OUTPUT_PATH"]
        self._ours = {str(number) for number in numbers}
        self._mounted = mounted
        self._before = None

    def enter(self, number):
        """Make the directory of an input, and let the environment name it."""
        path = os.path.join(self._path, str(number))
        os.environ.update(KINETIC_INPUT=str(number), KINETIC_OUTPUT_DIR=f"{self._url}/{number}", KINETIC_OUTPUT_PATH=path)
        try:
            os.makedirs(path, exist_ok=True)
        except OSError:
            pass  # as on a full disk: an input that writes nothing does without
        self._before = self._look(number)

    def leave(self, number):
        """Remove the directory if it is empty. Return a warning if files elsewhere were written meanwhile, else None."""
        try:
            os.rmdir(os.path.join(self._path, str(number)))
        except OSError:
            pass
        after = self._look(number)
        if after is None or self._before is None:
            return None
        strays = sorted(path for path, state in after.items() if self._before.get(path) != state)
        saved = not self._url.startswith("gs://")  # in a local job, that directory is the store
        return sentence(number, strays, saved) if strays else None

    def _look(self, number):
        """Return a dict of the files outside of the directory of an input, None if there are too many to look at."""
        if self._mounted:
            return None
        found, folders, count = {}, [""], 0
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(os.path.join(self._path, folder)) as entries:
                    for entry in entries:
                        count += 1
                        if count > LOOKED_AT:
                            return None
                        path = os.path.join(folder, entry.name)
                        if not folder and self._is_of_another(entry.name, number):
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(path)
                        else:
                            status = entry.stat(follow_symlinks=False)
                            found[path] = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
            except OSError:
                pass  # it has just gone
        return found

    def _is_of_another(self, name, number):
        """Return whether a directory is that of the input itself, or of an input of another pod."""
        return name == str(number) or name.isdecimal() and name not in self._ours


def sentence(number, paths, saved):
    """Return a warning about files that an input has written outside of its own directory."""
    names = ", ".join(paths[:NAMED]) + (f" and {len(paths) - NAMED} more" if len(paths) > NAMED else "")
    harm = "other inputs write there, too" if saved else "what is there is not saved"
    return (
        f"input {number} wrote outside of its own outputs: {names}: {harm}; "
        "read KINETIC_OUTPUT_DIR in the function, since it is another one for each input"
    )
