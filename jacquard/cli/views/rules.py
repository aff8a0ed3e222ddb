"""What each rule is about: policies, cross-checks and the form of data files, by the names that reports use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from components.rules import checks
from components.specs.base import Stage
from components.specs.reading.problems import FORM
from policies import extensions, levels
from policies.verdict import Rule

_FORM = """A data file says something that its own fields cannot hold: a type, a bound, a format, a key that is unknown.

The fields of each file: docs/reference/README.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One rule, for people."""

    name: str
    """Name of the rule, as reports and waivers have it."""
    text: str
    """What the rule reports; the first line says it in short."""
    why: str
    """What would happen without the rule; empty where the text says it."""
    levels: dict[str, str]
    """How strict a policy is, by stage; empty for all other rules, which always hold."""
    waivable: bool
    """Whether ``waivers.yaml`` can give leave for a subject."""

    @property
    def summary(self) -> str:
        """Return what the rule reports, in a line."""
        return self.text.partition("\n\n")[0].replace("\n", " ")

    def lines(self) -> Iterator[str]:
        """Yield what is said of the rule, line by line."""
        yield f"{self.name}: {self.summary}"
        rest = self.text.partition("\n\n")[2]
        yield from (f"  {line}" for line in rest.splitlines())
        if self.why:
            yield f"  why: {self.why}"
        if self.levels:
            yield f"  levels: {', '.join(f'{stage} {level}' for stage, level in self.levels.items())}"
        yield f"  waivers.yaml can give leave: {'yes' if self.waivable else 'no'}"


def rules() -> dict[str, Explained]:
    """Return every rule by its name: the form of files, then cross-checks, then policies."""
    waivable = set(checks.waivable())
    texts = {FORM: _FORM} | checks.descriptions() | levels.DESCRIPTIONS
    found = [_plain(name, text, waivable=name in waivable) for name, text in texts.items()]
    return {one.name: one for one in (*found, *map(_policy, extensions.rules()))}


def _plain(name: str, text: str, *, waivable: bool) -> Explained:
    return Explained(name=name, text=text, why="", levels={}, waivable=waivable)


def _policy(rule: Rule) -> Explained:
    levels = {stage.value: rule.levels[stage].value for stage in Stage if stage in rule.levels}
    return Explained(name=rule.name, text=rule.description, why=rule.why, levels=levels, waivable=True)
