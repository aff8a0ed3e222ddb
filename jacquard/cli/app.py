"""Where the ``jacquard`` command starts. Only what reacts to Ctrl-C is loaded before anything may take time."""

from __future__ import annotations

import gc

from jacquard.cli import interrupts


def main() -> None:
    """Run the command line."""
    interrupts.end_at_once()
    gc.disable()  # a tenth of loading would go into walks through modules, which are no garbage; on again with a verb
    from jacquard.cli.command import run  # noqa: PLC0415 - loading takes time, in which Ctrl-C must be heard

    run()
