"""Starts a program that the kernel interrupts (SIGINT) when its parent is killed.

Usage: ``parent_death.py PROGRAM ARGUMENT...``

A command that is killed cannot stop its engine; the kernel can, on Linux. The engine then exits as after Ctrl-C:
running operations are finished and recorded, and the lock is released.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Execute the program in the arguments."""
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
        if os.getppid() != parent:
            sys.exit(1)
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - no shell on purpose


if __name__ == "__main__":
    main()
