"""Baseline of known violations: a file that `check` tolerates, and that only shrinks.

Entries name a violation by environment, rule and text, without a line, so that other edits do not invalidate them.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import ClassVar

from pydantic import Field

from components.specs.base import DataFile, Label, Spec, Text
from components.specs.reading.parsing import parsed
from components.specs.reading.positions import Positions
from components.specs.reading.problems import SpecError
from components.specs.struct import Struct
from policies.results import Result

MARK = "# Known violations, which jacquard check --baseline tolerates; all other violations block."
"""First line of a baseline."""
_HEAD = f"""{MARK}
# To remove fixed violations, run jacquard check --baseline FILE --write-baseline, which never adds a line.
schema_version: 1
"""


class KnownViolation(Spec):
    """Violation that the baseline tolerates."""

    environment: Label
    """Name of the environment."""
    rule: Text
    """Name of the violated rule."""
    violation: str = Field(min_length=1)
    """Object and value that violate the rule, or the problem, as one line."""

    @classmethod
    def of(cls, result: Result) -> "KnownViolation":
        """Return the entry for ``result``."""
        text = " ".join((result.identity or result.text).split())
        return cls(environment=result.environment, rule=result.rule, violation=text)


class _BaselineFile(DataFile):
    HAS_PLACEHOLDERS: ClassVar[bool] = True
    WRITTEN_BY_COMMAND: ClassVar[bool] = True
    violations: tuple[KnownViolation, ...]


class Baseline(Struct, kw_only=False):
    """Known violations, with the line of each entry in its file."""

    entries: tuple[tuple[KnownViolation, int], ...] = ()

    @classmethod
    def read(cls, file: str, text: str) -> "Baseline":
        """Return the baseline in ``text``.

        Raises:
            SpecError: the text is no baseline.
        """
        data, place, problems = parsed(file, text, _BaselineFile)
        if problems or not isinstance(data, _BaselineFile):
            raise SpecError(file, problems)
        lines = Positions({file: place})
        numbered = ((item, lines.line(file, ("violations", index))) for index, item in enumerate(data.violations))
        return cls(tuple(numbered))

    @classmethod
    def of(cls, results: Iterable[Result]) -> "Baseline":
        """Return the baseline with all violations of ``results`` that it can tolerate."""
        return cls(tuple((KnownViolation.of(result), 0) for result in results if _is_tolerable(result)))

    def known(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yield the violations of ``results`` that have an entry; each entry stands for one violation."""
        free = Counter(entry for entry, _ in self.entries)
        for result in results:
            entry = KnownViolation.of(result)
            if _is_tolerable(result) and free[entry] > 0:
                free[entry] -= 1
                yield result

    def fixed(self, known: Iterable[Result], judged: Collection[str]) -> list[tuple[KnownViolation, int]]:
        """Return the entries of the environments ``judged`` without one of the violations ``known``."""
        used = Counter(map(KnownViolation.of, known))
        fixed = []
        for entry, line in self.entries:
            if entry.environment in judged:
                if used[entry] > 0:
                    used[entry] -= 1
                else:
                    fixed.append((entry, line))
        return fixed

    def without(self, fixed: Iterable[tuple[KnownViolation, int]]) -> "Baseline":
        """Return this baseline without the entries ``fixed``."""
        gone = set(fixed)
        return Baseline(tuple(item for item in self.entries if item not in gone))

    def __str__(self) -> str:
        """Return the text of the file: one line for each entry."""
        ordered = sorted((entry for entry, _ in self.entries), key=lambda item: tuple(item.model_dump().values()))
        return _HEAD + ("violations:\n" + "".join(map(_line, ordered)) if ordered else "violations: []\n")


def _line(entry: KnownViolation) -> str:
    violation = json.dumps(entry.violation, ensure_ascii=False)
    return f"  - {{environment: {entry.environment}, rule: {entry.rule}, violation: {violation}}}\n"


def _is_tolerable(result: Result) -> bool:
    return result.blocks and not result.critical
