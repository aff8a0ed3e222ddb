"""Entry point of the ``jacquard`` command; it handles Ctrl-C before it loads slow modules."""

import gc

from jacquard.cli import interrupts


def main() -> None:
    """Run the command line."""
    interrupts.end_at_once()
    # Garbage collection takes a tenth of the import time and frees nothing; a verb enables garbage collection again.
    gc.disable()
    from jacquard.cli.command import run  # noqa: PLC0415 - loading takes time, during which Ctrl-C must work

    run()
