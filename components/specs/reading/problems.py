"""What is wrong with the data of an environment, said once and in one form everywhere."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from components.specs.reading.remedy import Remedy

MAX_SHOWN_CHARACTERS = 60
"""A value is quoted up to this length, so that a wrong blob does not fill the screen."""
MAX_PROBLEMS = 10_000
"""Problems of one file after which the rest of it is left for the next run."""
MAX_ALIKE = 5
"""Problems of one file that differ in names and numbers only are spelt out up to this count."""
MAX_COUNTED = 5
"""Files whose problems the first line of a report counts one by one."""
FORM = "data.form"
"""Stands for all that the model of a file asks for, among the names of rules."""
_NAMES = re.compile(r"'[^']*'|[\w.:/-]*\d[\w.:/-]*")
_ALIKE = 0.8
"""Likeness from which on a name is a slip of the pen, likelier than a longer name of which a part was written."""
_PARTS = re.compile("[-_]")
_STEPS = re.compile(r"[^.\[\]]*\d[^.\[\]]*")


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake in one place.

    ``text`` gives the rule, the value got and the remedy: lower case, no full stop. Whatever is invisible or steers a
    terminal is escaped, also in a file's name.
    """

    file: str
    """Path of the file relative to the environment's folder, such as ``tenants/acme.yaml``."""
    line: int
    """Line of the mistake, counted from 1; 0 when the problem is the file itself."""
    path: str
    """Path of the value within the file, such as ``clusters[0].pools[1].nodes``; empty for the file itself."""
    text: str
    """Rule, value got and remedy, in lower case and without a full stop."""
    rule: str = field(default=FORM, compare=False)
    """What was broken: ``data.form`` for what one file says of itself, else the name of a cross-check or a policy."""
    subject: str = field(default="", compare=False)
    """What a waiver of the rule names; empty where no waiver helps."""
    remedy: Remedy | None = field(default=None, compare=False)
    """What ``jacquard check --fix`` writes, where that is certain."""

    def __post_init__(self) -> None:
        for name in ("file", "path", "text"):
            value: str = getattr(self, name)
            if not value.isprintable():
                object.__setattr__(self, name, visible(value))

    @property
    def place(self) -> str:
        """Return ``file:line``, as editors understand it."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def to_json(self) -> dict[str, Any]:
        """Return the problem as data, and whether ``jacquard check --fix`` mends it."""
        return {key: value for key, value in asdict(self).items() if key != "remedy"} | {"fix": self.remedy is not None}

    @property
    def kind(self) -> tuple[str, str, str]:
        """Return what problems of one file share that differ in names and numbers only."""
        return self.file, _STEPS.sub("#", self.path), _NAMES.sub("#", self.text)


class SpecError(Exception):
    """The data of an environment is wrong. Its text is a report of all problems."""

    def __init__(self, environment: str, problems: Iterable[Problem]) -> None:
        self.environment = environment
        self.problems = tuple(sorted(set(problems)))
        super().__init__(environment, self.problems)

    def __str__(self) -> str:
        rows = list(_rows(self.problems))
        width = max((len(place) for place, _ in rows), default=0)
        return "\n".join([self._headline(), *(f"  {place:<{width}}  {text}" for place, text in rows)])

    def _headline(self) -> str:
        count = len(self.problems)
        files = Counter(problem.file for problem in self.problems)
        counts = [f"{number} in {file}" for file, number in files.items()]
        rest = len(counts) - MAX_COUNTED
        if rest > 1:
            counts[MAX_COUNTED:] = [f"{sum(list(files.values())[MAX_COUNTED:])} in {rest} more files"]
        detail = f" ({', '.join(counts)})" if 1 < len(files) < count else ""
        return f"environments/{self.environment}: {count} problem{'' if count == 1 else 's'}{detail}"

    def to_json(self) -> dict[str, Any]:
        """Return the report as data for ``--format json``."""
        return {"environment": self.environment, "problems": [problem.to_json() for problem in self.problems]}


def _rows(problems: Sequence[Problem]) -> Iterator[tuple[str, str]]:
    """Yield place and text of each line of a report: of many alike the first few, and how many more there are."""
    kinds = [problem.kind for problem in problems]
    total, last, told = Counter(kinds), dict(zip(kinds, problems, strict=True)), Counter[tuple[str, str, str]]()
    for kind, problem in zip(kinds, problems, strict=True):
        told[kind] += 1
        rest = total[kind] - MAX_ALIKE
        where = f"{problem.path}: " if problem.path else ""
        if told[kind] <= MAX_ALIKE or rest == 1:
            yield problem.place, f"{where}{problem.text}"
        elif told[kind] == MAX_ALIKE + 1:
            lines = f" (lines {problem.line}-{last[kind].line})" if problem.line < last[kind].line else ""
            yield problem.place, f"{where}and {rest} more like it{lines}"


def dotted(path: Sequence[str | int]) -> str:
    """Return ``path`` as people write it, ``clusters[0].name``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = shortened(step.encode("ascii", "backslashreplace").decode())
            text += f".{name}" if text else name
    return text


def shown(value: object) -> str:
    """Return ``value`` for an error text: short, in the words of a data file, look-alikes of letters escaped."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case str() if len(value) > MAX_SHOWN_CHARACTERS:
            return f"{value[:MAX_SHOWN_CHARACTERS]!a}... of {len(value)} characters"
        case _:
            return shortened(ascii(value))


def shortened(text: str) -> str:
    """Return ``text`` as it stands, or its beginning when it is long."""
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."


def visible(text: str) -> str:
    """Return ``text`` with what is invisible or steers a terminal written as an escape."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode() for letter in text
    )


def listed(names: Iterable[str], most: int | None = None) -> str:
    """Return ``names`` as a list for an error text, or ``none``; beyond the first ``most`` only how many more."""
    every = list(names)
    rest = len(every) - len(every[:most])
    return (", ".join(every[:most]) or "none") + (f" and {rest} more" if rest else "")


def one_of(names: Iterable[str]) -> str:
    """Return ``names``, at least one of them, as a choice for an error text: the name itself where it is the only one.

    Names stand bare behind a verb: ``write a`` or ``write one of a, b``.
    """
    every = list(names)
    return f"{'one of ' * (len(every) > 1)}{listed(every)}"


def nearest(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that ``wrong`` was probably meant to be."""
    return _nearest(wrong, tuple(names))


@lru_cache(maxsize=2 * MAX_PROBLEMS)
def _nearest(wrong: str, names: tuple[str, ...]) -> str | None:
    """Remembered, since a wrong key is looked at more than once and each look costs more than reading it."""
    near = difflib.get_close_matches(wrong, names, n=1, cutoff=0.5)
    longer = [name for name in names if wrong in _PARTS.split(name)]
    if len(longer) == 1 and not difflib.get_close_matches(wrong, near, cutoff=_ALIKE):
        return longer[0]
    return next(iter(near), None)


def suggestion(wrong: str, names: Iterable[str]) -> str:
    """Return ``; did you mean '...'?`` for the name nearest to ``wrong``, or an empty text."""
    near = nearest(wrong, names)
    return f"; did you mean '{near}'?" if near else ""
