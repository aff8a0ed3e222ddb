"""Problems in the data of an environment, and their report in a format common to all commands."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from components.specs.reading.remedy import Remedy
from components.specs.secret_text import masked, masked_forms
from components.specs.struct import Struct

if TYPE_CHECKING:
    from pydantic import ValidationError

_DIGITS = 12
MAX_SHOWN_CHARACTERS = 60
"""Maximum length of a quoted value, so that a large wrong value does not fill the screen."""
MAX_PROBLEMS = 10_000
"""Maximum number of problems in one file. Reading stops when this number is reached."""
MAX_ALIKE = 5
"""Number of similar problems in one file that are printed in full. Similar problems differ only in names and
numbers."""
MAX_COUNTED = 5
"""Maximum number of files with a separate problem count in the first line of a report."""
FORM = "data.form"
"""Rule name for all constraints of the model of a single file."""
_MOST_USERS = 5
"""Maximum number of users of one entry that a message names."""
_MOST_DECLARED = 6
"""Maximum number of declared names that a message lists beside a suggestion."""
_INTERNAL = ("remedy", "undeclared")
"""Fields of problems that are not in JSON data."""
_NAMES = re.compile(r"'[^']*'|[\w.:/-]*\d[\w.:/-]*")
_NEAR = 0.51
"""Similarity above which a name is suggested. At 0.5, ``internet`` is near to ``none``."""
_ALIKE = 0.8
"""Similarity above which a name counts as a typing error and not as part of a longer name."""
_PARTS = re.compile("[-_]")
_VERSION = re.compile(r"(?P<of>[^0-9]*)(?P<numbers>[0-9]{1,9}(\.[0-9]{1,9})+)([-+].*)?")
"""Version, after the name of what has it: ``v1.35.2`` or ``gpu-2026.11.1``."""
_STEPS = re.compile(r"[^.\[\]]*\d[^.\[\]]*")


class Undeclared(Struct):
    """A name that refers to no entry of a list."""

    name: str
    """The name."""
    where: str
    """The list that lacks the name, such as ``namespaces of acme-train``."""
    declared: tuple[str, ...]
    """Entries of the list."""
    text: str
    """Text of the problem."""


@dataclass(frozen=True, order=True)
class Problem:
    """Problem at one position in the data.

    Invisible and control characters are escaped in ``text`` and in file names, and secrets are masked.
    """

    file: str
    """Path of the file relative to the environment's folder, such as ``tenants/acme.yaml``."""
    line: int
    """Line of the problem, counted from 1; 0 for a problem of the whole file."""
    path: str
    """Path of the value within the file, such as ``clusters[0].pools[1].nodes``; empty for the whole file."""
    text: str
    """Rule, value and remedy, in lower case and without a full stop."""
    rule: str = field(default=FORM, compare=False)
    """Name of the violated rule: ``data.form`` for constraints of a single file, otherwise a cross-check or a
    policy."""
    subject: str = field(default="", compare=False)
    """Subject for a waiver of the rule; empty if a waiver is not possible."""
    remedy: Remedy | None = field(default=None, compare=False)
    """Replacement that ``jacquard check --fix`` writes; None if the remedy is ambiguous."""
    undeclared: Undeclared | None = field(default=None, compare=False)
    """The undeclared name that the problem reports; None if it reports something else."""

    def __post_init__(self) -> None:
        for name, mask in (("file", masked_forms), ("path", masked_forms), ("text", masked)):
            value: str = getattr(self, name)
            safe = mask(value)
            if safe is not value or not value.isprintable():
                object.__setattr__(self, name, visible(safe))

    @property
    def place(self) -> str:
        """Return ``file:line``, a notation that editors can open."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def where(self) -> str:
        """Return the path with a colon and a space, before the text of the problem; empty for the whole file."""
        return f"{self.path}: " if self.path else ""

    def to_json(self) -> dict[str, Any]:
        """Return the problem as JSON data, including whether ``jacquard check --fix`` can fix the problem."""
        values = asdict(self)
        return {key: values[key] for key in values if key not in _INTERNAL} | {"fix": self.remedy is not None}

    @property
    def kind(self) -> tuple[str, str, str]:
        """Return a grouping key for similar problems of one file, which differ only in names and numbers."""
        return self.file, _STEPS.sub("#", self.path), _NAMES.sub("#", self.text)


class SpecError(Exception):
    """The data of an environment is invalid. The text of the error is a report of all problems."""

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


class ArgumentError(SpecError):
    """An argument of a command is wrong, and not the data.

    Args:
        environment: name of the environment.
        argument: name of the argument, such as ``--to``, and its value if the reasons do not contain it.
        reasons: rule, value and remedy of each reason.
    """

    def __init__(self, environment: str, argument: str, *reasons: str) -> None:
        super().__init__(environment, (Problem(argument, 0, "", reason) for reason in reasons))

    def __str__(self) -> str:
        return "\n".join(f"{problem.file}: {problem.text}" for problem in self.problems)


def _rows(problems: Sequence[Problem]) -> Iterator[tuple[str, str]]:
    """Yield position and text of each line of a report. Of many similar problems, only the first few are listed."""
    kinds = [problem.kind for problem in problems]
    total, last, reported = Counter(kinds), dict(zip(kinds, problems, strict=True)), Counter[tuple[str, str, str]]()
    for kind, problem in zip(kinds, problems, strict=True):
        reported[kind] += 1
        rest = total[kind] - MAX_ALIKE
        if reported[kind] <= MAX_ALIKE or rest == 1:
            yield problem.place, f"{problem.where}{problem.text}"
        elif reported[kind] == MAX_ALIKE + 1:
            lines = f" (lines {problem.line}-{last[kind].line})" if problem.line < last[kind].line else ""
            yield problem.place, f"{problem.where}and {rest} more like it{lines}"


def reported(
    file: str, line: int, path: str, text: str | Undeclared, *, rule: str = FORM, subject: str = ""
) -> Problem:
    """Return the problem with ``text``, or about an undeclared name."""
    name = text if isinstance(text, Undeclared) else None
    return Problem(file, line, path, name.text if name else str(text), rule=rule, subject=subject, undeclared=name)


def undeclared(
    name: str, declared: Iterable[str], where: str, taken: Iterable[str] = (), users: Iterable[str] = ()
) -> Undeclared:
    """Return that ``name`` is not in ``declared`` of ``where``. A suggestion (not ``taken``) replaces long lists."""
    declared, taken, users = tuple(declared), set(taken), list(users)
    near = suggestion(name, (candidate for candidate in declared if candidate not in taken))
    used = f" and used by {listed(users, _MOST_USERS)}" if users else ""
    known = "" if near and len(declared) > _MOST_DECLARED else f" (declared: {listed(declared)})"
    text = f"'{name}' is not declared in {where}{known}{used}; add it there or pick one{near}"
    return Undeclared(name=name, where=where, declared=declared, text=text)


def first_violation(error: "ValidationError") -> str:
    """Return the first violation as the end of a sentence about a file: `` at`` its path, and the reason."""
    first = error.errors(include_url=False)[0]
    where = f" at {dotted(first['loc'])}" if first["loc"] else ""
    return f"{where}: {first['msg'].lower()}"


def dotted(path: Sequence[str | int]) -> str:
    """Return ``path`` in dotted notation, such as ``clusters[0].name``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = shortened(step.encode("ascii", "backslashreplace").decode())
            text += f".{name}" if text else name
    return text


def shown(value: object) -> str:
    """Return ``value`` for an error text: with secrets masked, shortened, in the notation of data files, in ASCII."""
    if isinstance(value, str):
        value = masked(value)
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case str() if len(value) > MAX_SHOWN_CHARACTERS or len(ascii(value)) == len(value) + len("''"):
            rest = f"... of {len(value)} characters" if len(value) > MAX_SHOWN_CHARACTERS else ""
            return f"{value[:MAX_SHOWN_CHARACTERS]!a}{rest}"
        case _:
            return shortened(ascii(value))


def shortened(text: str) -> str:
    """Return ``text``, with secrets masked, truncated if it is long."""
    text = masked(text)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."


def abbreviated(digest: str) -> str:
    """Return the first digits of a digest or commit, which identify it in texts; files and JSON contain all digits."""
    return digest[:_DIGITS]


def visible(text: str) -> str:
    """Return ``text`` with invisible and control characters escaped."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode() for letter in text
    )


def listed(names: Iterable[str], most: int | None = None) -> str:
    """Return ``names`` as a list for an error text, or ``none``. Names after the first ``most`` are only counted."""
    every = list(names)
    rest = len(every) - len(every[:most])
    return (", ".join(every[:most]) or "none") + (f" and {rest} more" if rest else "")


def one_of(names: Iterable[str]) -> str:
    """Return ``names`` (at least one) as a choice for an error text, such as ``one of a, b``.

    A single name is returned unchanged, so that the result can follow a verb: ``write a`` or ``write one of a, b``.
    """
    every = list(names)
    return f"{'one of ' * (len(every) > 1)}{listed(every)}"


def nearest(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that is most similar to ``wrong``; None if no name is similar."""
    return _nearest(wrong, tuple(names))


@lru_cache(maxsize=2 * MAX_PROBLEMS)
def _nearest(wrong: str, names: tuple[str, ...]) -> str | None:
    """Return the most similar name. The result is cached: the comparison is slow, and wrong keys repeat."""
    versions = {name: numbers for name in names if (numbers := _distance(wrong, name)) is not None}
    if versions:
        closest = min(versions, key=versions.__getitem__)
        return None if versions[closest][0][0] else closest
    near = difflib.get_close_matches(wrong, names, n=1, cutoff=_NEAR)
    longer = [name for name in names if wrong in _PARTS.split(name)]
    if len(longer) == 1 and not difflib.get_close_matches(wrong, near, cutoff=_ALIKE):
        return longer[0]
    return next(iter(near), None)


def _distance(wrong: str, name: str) -> tuple[tuple[int, bool], ...] | None:
    """Return the differences between the numbers of two versions of one thing; None for other names.

    Versions are compared by number: 1.36 is closer to 1.40 than 1.34, which has a digit more in common. Of two at the
    same distance, the newer one is closer.
    """
    one, other = _VERSION.fullmatch(wrong), _VERSION.fullmatch(name)
    if not one or not other or one["of"] != other["of"]:
        return None
    pairs = zip_longest(*(match["numbers"].split(".") for match in (one, other)), fillvalue="0")
    return tuple((abs(int(left) - int(right)), int(right) < int(left)) for left, right in pairs)


def suggestion(wrong: str, names: Iterable[str]) -> str:
    """Return ``; did you mean '...'?`` for the name that is most similar to ``wrong``, or an empty text."""
    near = nearest(wrong, names)
    return f"; did you mean '{near}'?" if near else ""
