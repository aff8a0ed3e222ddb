"""Exit code of the results of rules."""

from collections.abc import Iterable

from jacquard.cli.errors import ExitCode
from policies.results import Decision, Result, decision

_CODES = {Decision.PASSED: ExitCode.OK, Decision.BAD_DATA: ExitCode.BAD_DATA, Decision.REFUSED: ExitCode.REFUSED}


def exit_code(results: Iterable[Result]) -> ExitCode:
    """Return the exit code of ``results``; see `decision`."""
    return _CODES[decision(results)]
