"""Results of rules as data, the same in the JSON of every command."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from components.specs.base import Spec
from components.specs.region.policy import Enforcement, WaiverSpec
from policies.results import Result, Source, State


class ResultData(Spec):
    """Violation of a rule, or advice of a rule."""

    rule: str
    """Name of the rule."""
    source: Source
    """Subject of the judgement."""
    subject: str
    """Violating object or entry; empty for a problem of a whole file."""
    level: Enforcement
    """Enforcement level, without the effect of a waiver."""
    blocks: bool
    """Whether the result blocks a deployment or a merge."""
    critical: bool
    """Whether the violation blocks a change even if the base has it."""
    file: str
    """File relative to the folder of the environment."""
    line: int
    """Line in the file, counted from 1."""
    text: str
    """Violation and remedy; one or several lines."""
    state: State | None
    """State relative to the base of a change; None without a base."""
    waiver: WaiverSpec | None
    """Valid waiver of the violation; None without one."""
    binding: dt.date | None
    """First day on which a warning of a new rule is an error; None for other results."""


def result_data(result: Result) -> ResultData:
    """Return ``result`` as data."""
    return ResultData(**{name: getattr(result, name) for name in ResultData.model_fields})


def to_json(results: Iterable[Result]) -> list[dict[str, Any]]:
    """Return ``results`` as JSON data."""
    return [result_data(result).model_dump(mode="json") for result in results]
