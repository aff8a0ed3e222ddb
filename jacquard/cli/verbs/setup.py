"""``jacquard setup``: what a run needs on this machine, made from pinned sources."""

from __future__ import annotations

from jacquard.harness import Progress
from jacquard.harness import setup as machine


def setup() -> None:
    """Make this machine ready for up and preview.

    Finds or builds the engine, lays out plugins, and builds what the clusters of a rehearsal run. All lies in the
    cache, which the repositories of a user share: the first run takes a quarter of an hour, unless the vendor's pulumi
    is installed; later ones take seconds. An interrupted one goes on where it was.
    """
    machine.set_up(Progress())
