"""Starts a program that the kernel asks to end (SIGINT) when its parent is killed.

Usage: ``ends_with_parent.py PROGRAM ARGUMENT...``

A command that is killed outright cannot stop its engine any more; the kernel can, where it knows how (Linux). The
engine then ends as after Ctrl-C: what runs is finished and recorded, and the lock is released.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Become the program named by the arguments."""
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
        if os.getppid() != parent:
            sys.exit(1)
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - no shell on purpose


if __name__ == "__main__":
    main()
