"""Entry point of the ``jacquard`` command; it handles Ctrl-C before it loads slow modules."""

import gc
import os

from jacquard.cli import interrupts


def main() -> None:
    """Run the command line."""
    interrupts.end_at_once()
    # Garbage collection takes a tenth of the import time and frees nothing; a verb enables garbage collection again.
    gc.disable()
    # Before its first model, pydantic reads the entry points of all installed packages for plugins. Jacquard uses none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from jacquard.cli.command import run  # noqa: PLC0415 - loading takes time, during which Ctrl-C must work

    try:
        run()
    finally:
        gc.freeze()  # The end of the process frees all memory, so that the last collections would only take time.
