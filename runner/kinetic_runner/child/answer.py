# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""What every Python of a call does at its start.

It lets the call's programs say where they are: at SIGURG, which all others ignore, Python writes the stacks of its threads. It also finds the
user's projects.
"""

import os
import sys

FILE = "stacks"  # in the scratch directory
KEPT = "_kinetic_stacks"  # in sys: the descriptor that the signal handler writes to. sitecustomize forgets this module.


def answer_signal(environ=os.environ):
    """Write the stack of every thread to the file of the job at each SIGURG, even while native code runs. Does nothing outside of a job."""
    stop_file = environ.get("KINETIC_STOP_FILE")
    if hasattr(sys, KEPT) or not stop_file or not sys.platform.startswith("linux"):
        return
    import _signal  # the module signal is slow to import
    import faulthandler

    if _signal.getsignal(_signal.SIGURG) not in (_signal.SIG_DFL, _signal.SIG_IGN):
        return  # the program uses it
    path = os.path.join(os.path.dirname(stop_file), FILE)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    setattr(sys, KEPT, file)
    faulthandler.register(_signal.SIGURG, file=file, all_threads=True, chain=False)


def find_projects():
    """Append .kinetic-metadata, which stands for the installation of the user's projects, to sys.path, and the directories in its .pth file.

    They come last, so that they hide neither site-packages nor the standard library.
    """
    stop_file = os.environ.get("KINETIC_STOP_FILE")
    folder = os.path.abspath(f"{stop_file}/../../workspace/.kinetic-metadata")
    if stop_file and os.path.isdir(folder):
        import site

        site.addsitedir(folder)


def ignore_signal():
    """Answer no more: the file is one of a call that has ended."""
    if hasattr(sys, KEPT):
        import _signal
        import faulthandler

        faulthandler.unregister(_signal.SIGURG)
        os.close(getattr(sys, KEPT))
        delattr(sys, KEPT)
