"""Results of rules as GitHub annotations: workflow commands in the log of a job, shown at their lines of the change."""

from collections.abc import Iterable, Iterator

from jacquard.cli.views.results.places import path
from policies.results import Result

_ORDER = ("error", "warning", "notice")


def lines(results: Iterable[Result], command: str, failure: str | None = None) -> Iterator[str]:
    """Yield a workflow command for each result, errors first, because GitHub shows only ten of each level.

    Args:
        results: results of rules.
        command: name of the command.
        failure: reason why the command could not judge everything; None if it could.
    """
    if failure:
        yield f"::error title={_property(f'jacquard {command}')}::{_message(failure)}"
    for result in sorted(dict.fromkeys(results), key=lambda item: (_ORDER.index(_level(item)), path(item), item.line)):
        place = f"file={_property(path(result))},line={max(1, result.line)},title={_property(result.rule)}"
        waived = f"waived: {result.waiver}\n" if result.waiver else ""
        yield f"::{_level(result)} {place}::{_message(waived + result.text)}"


def _level(result: Result) -> str:
    if result.waiver:
        return "notice"
    return "error" if result.blocks else "warning"


def _message(text: str) -> str:
    """Return ``text`` with the escapes of workflow commands, so that no value starts another command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
