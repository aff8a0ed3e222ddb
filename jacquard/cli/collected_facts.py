"""Facts of ``jacquard facts`` for commands; apart from `data`, because reading facts loads the clients of clusters."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.previews.impacts.occupancy import CollectedFacts, FactsError, read_facts


def facts(
    files: Iterable[Path], names: Sequence[str], *, now: dt.datetime, limit_minutes: int
) -> Mapping[str, CollectedFacts]:
    """Return the facts of the environments ``names`` from files of ``jacquard facts``; warn about unusable facts.

    Raises:
        Stop: files without facts, or with facts of other environments; contains all of them.
    """
    try:
        observed = read_facts(files, names, now=now, limit_minutes=limit_minutes)
    except FactsError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None
    for name, item in observed.items():
        if item.unfit:
            show(f"{name}: {item.unfit}; until then it is unknown which nodes are occupied or have faults", "warning")
    return observed
