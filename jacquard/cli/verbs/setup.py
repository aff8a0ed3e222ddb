"""``jacquard setup``: installs the tools of this machine from pinned sources."""

from __future__ import annotations

from jacquard.harness import Progress
from jacquard.harness import setup as machine


def setup() -> None:
    """Prepare this machine for up and preview.

    Finds or builds the engine, installs plugins, and builds the software of rehearsal clusters. All files are in the
    cache, which is shared by all repositories of a user. The first run takes a quarter of an hour, unless the vendor's
    pulumi is installed; later runs take seconds. An interrupted run continues where it stopped.
    """
    machine.set_up(Progress())
