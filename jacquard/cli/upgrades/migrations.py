"""Migrations of the data files of environments to current formats."""

from collections.abc import Sequence

from rich.text import Text

from components.allocate.migrations import MIGRATIONS
from components.specs.reading.migrations import Upgrade, moves
from components.specs.reading.problems import SpecError
from jacquard.cli.console import stderr
from jacquard.cli.errors import ExitCode, Stop
from jacquard.machine import paths


def migrations(names: Sequence[str]) -> dict[str, Upgrade]:
    """Return the upgrade of each file of the environments ``names``.

    Raises:
        Stop: a file cannot be migrated.
    """
    found: dict[str, Upgrade] = {}
    errors = []
    for name in names:
        moved, problems = moves(paths.environments(), name, MIGRATIONS)
        found |= {_shown(move): move for move in moved}
        errors += [SpecError(name, problems)] if problems else []
    for error in errors:
        stderr().print(Text(str(error)), soft_wrap=True)
    if errors:
        msg = "nothing was migrated"
        raise Stop(msg, ExitCode.BAD_DATA)
    return found


def _shown(move: Upgrade) -> str:
    """Return the path of a file relative to the repository."""
    return f"environments/{move.path.relative_to(paths.environments()).as_posix()}"
