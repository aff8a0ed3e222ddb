"""Where the ``jacquard`` command starts. Only what reacts to Ctrl-C is loaded before anything may take time."""

from __future__ import annotations

from cli import interrupts


def main() -> None:
    """Run the command line."""
    interrupts.end_at_once()
    from cli.command import run  # noqa: PLC0415 - loading takes time, in which Ctrl-C must be heard

    run()
