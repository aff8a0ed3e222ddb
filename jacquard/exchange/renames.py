"""Rack names of other systems, such as ``A05``, and their names in the inventory."""

import re
from collections.abc import Iterable, Iterator, Mapping

from components.specs.base import LABEL
from components.specs.reading.problems import Problem, shown
from components.specs.struct import Struct, field
from jacquard.exchange.tables import read_table

_COLUMNS = ("name", "rack")
_ANY = "*"


class Renames(Struct):
    """Racks of the inventory by their foreign name. A ``*`` on both sides stands for the same text: ``A*=a*``."""

    pairs: Mapping[str, str] = field(default_factory=dict)

    def rack(self, name: str) -> str:
        """Return the rack with the foreign ``name``; without a rule, ``name`` itself."""
        return _renamed(name, self.pairs.items())

    def name(self, rack: str) -> str:
        """Return the foreign name of ``rack``; without a rule, ``rack`` itself."""
        return _renamed(rack, [(right, left) for left, right in self.pairs.items()])

    def problems(self) -> Iterator[Problem]:
        """Report rules that are not reversible; the ``file`` of a problem is the option."""
        first: dict[str, str] = {}
        for left, right in self.pairs.items():
            option = f"--rack {left}={right}"
            if left.count(_ANY) != right.count(_ANY) or left.count(_ANY) > 1:
                yield Problem(option, 0, "", "needs one '*' on both sides or on none; write --rack 'A*=a*'")
            elif first.setdefault(right, left) != left:
                yield Problem(option, 0, "", f"is also the rack of {shown(first[right])}; use another name")


def read_renames(file: str, text: str) -> tuple[dict[str, str], list[Problem]]:
    """Return the pairs and problems of a CSV file with the columns ``name`` and ``rack``."""
    rows, problems = read_table(file, text)
    pairs: dict[str, str] = {}
    for line, row in rows:
        left, right = (row.get(column, "") for column in _COLUMNS)
        if not (left and right):
            problems.append(Problem(file, line, "", "needs a name and a rack; write the header name,rack"))
        elif pairs.setdefault(left, right) != right:
            problems.append(Problem(file, line, "", f"{shown(left)} is also {shown(pairs[left])}; remove one row"))
    return pairs, problems


def example(name: str) -> str | None:
    """Return options that map a foreign ``name`` to a label close to it; None for a label, or without a close label."""
    rack = name.lower().replace(" ", "-").replace("_", "-").replace(".", "-")
    if re.fullmatch(LABEL, name) or not re.fullmatch(LABEL, rack):
        return None
    at = re.search(r"[0-9]*$", name)
    start = at.start() if at else 0
    every = f", or all racks with --rack '{name[:start]}*={rack[:start]}*'" if 0 < start < len(name) else ""
    return f"--rack {shown(f'{name}={rack}')}{every}"


def _renamed(name: str, rules: Iterable[tuple[str, str]]) -> str:
    """Return the right side of the first rule whose left side is ``name``; exact names precede names with ``*``."""
    for left, right in sorted(rules, key=lambda rule: _ANY in rule[0]):
        before, mark, after = left.partition(_ANY)
        if name == left:
            return right
        if mark and len(name) > len(before + after) and name.startswith(before) and name.endswith(after):
            return right.replace(_ANY, name[len(before) : len(name) - len(after)])
    return name
