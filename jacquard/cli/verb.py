"""One verb of the ``jacquard`` command; its module is loaded when it is called."""

import gc
import pkgutil
from functools import cache
from typing import Any

import typer
from typer.main import get_command

from components.specs.struct import Struct
from jacquard.cli import interrupts
from jacquard.cli.global_options import Command, add_to


class Verb(Struct, kw_only=False):
    """Description of a verb, available before the verb's module is loaded."""

    name: str
    target: str
    """``module:name`` of the verb's function, or of a Typer with the verb's subcommands."""
    help: str
    """First paragraph of the verb's help."""
    examples: tuple[str, ...]
    """Example commands as typed."""

    def load(self) -> Any:
        """Import the module of the verb and return its command."""
        with interrupts.ended_at_once():
            target = pkgutil.resolve_name(self.target)
        _freeze_modules()
        gc.enable()
        if isinstance(target, typer.Typer):
            command = get_command(target)
        else:
            alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            alone.command(self.name, cls=Command)(target)
            command = get_command(alone)
        add_to(command)
        command.epilog = "\n\n".join(["Examples:", *self.examples])
        return command


@cache
def _freeze_modules() -> None:
    """Exclude modules from garbage collection once per process; collection among them takes a tenth of a verb's time.

    Later calls would also exclude garbage. ``gc.get_freeze_count`` does not show whether this was done: it counts all
    excluded objects, which takes 10 ms in a process that has imported all tests.
    """
    gc.freeze()
