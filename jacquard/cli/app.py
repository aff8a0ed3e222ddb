"""Entry point of the ``jacquard`` command; it handles Ctrl-C before it loads slow modules."""

import gc

from jacquard.cli import interrupts


def main() -> None:
    """Run the command line."""
    interrupts.end_at_once()
    gc.disable()  # collections while modules load take a tenth of that time and free nothing; a verb enables them again
    from jacquard.cli.command import run  # noqa: PLC0415 - loading takes time, during which Ctrl-C must work

    run()
