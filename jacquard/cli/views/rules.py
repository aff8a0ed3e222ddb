"""Explanations of all rules: schemas of data files, cross-checks and policies, by name."""

from collections.abc import Iterator

from components.rules import checks
from components.rules.consequences import explanations
from components.specs.base import Stage
from components.specs.reading.problems import FORM
from components.specs.reading.secret_finds import RULE as FOUND
from components.specs.struct import Struct
from policies import catalogue, extensions, levels
from policies.rules import MODULES
from policies.verdict import Rule

_FORM = """A data file does not match its schema: wrong type, value out of bounds, invalid format or unknown key.

The fields of each file: docs/reference/README.md."""

_FOUND = """Report texts of data files, also comments, that have the form of a credential.

This is an advice: the form alone is no proof. Secrets are masked in all outputs, but data are in Git, and rendered
objects and the state contain them. docs/reference/secrets-in-data.md lists the forms."""


class Explained(Struct):
    """Explanation of one rule."""

    name: str
    """Name of the rule in reports and waivers."""
    text: str
    """Description of the reported problem; the first paragraph is the summary."""
    why: str
    """Consequence of a violation; empty if the description contains the consequence."""
    levels: dict[str, str]
    """Enforcement level of a policy by stage; empty for other rules, which are always enforced."""
    advisory: str | None = None
    """Advisory period of a new rule; None for other rules."""
    hidden_by: tuple[str, ...] = ()
    """Rules whose problems explain the problems of a cross-check and hide them, each with the reason."""
    waivable: bool
    """Whether ``waivers.yaml`` can waive the rule for a subject."""

    @property
    def summary(self) -> str:
        """Return the first paragraph of the description as one line."""
        return self.text.partition("\n\n")[0].replace("\n", " ")

    def lines(self) -> Iterator[str]:
        """Yield the explanation line by line."""
        yield f"{self.name}: {self.summary}"
        rest = self.text.partition("\n\n")[2]
        yield from (f"  {line}" for line in rest.splitlines())
        if self.why:
            yield f"  why: {self.why}"
        if self.levels:
            yield f"  levels: {', '.join(f'{stage} {level}' for stage, level in self.levels.items())}"
        if self.advisory:
            yield f"  {self.advisory}: violations are warnings until then"
        yield from (f"  hidden by {cause}" for cause in self.hidden_by)
        yield f"  can be waived in waivers.yaml: {'yes' if self.waivable else 'no'}"


def rules() -> dict[str, Explained]:
    """Return all rules by name: schemas of files, then cross-checks, then policies."""
    waivable, hidden_by, periods = set(checks.waivable()), explanations(), checks.advisory_periods()
    texts = {FORM: _FORM, FOUND: _FOUND} | checks.descriptions() | levels.DESCRIPTIONS
    checked = [
        Explained(
            name=name,
            text=text,
            why="",
            levels={},
            advisory=str(periods[name]) if name in periods else None,
            hidden_by=tuple(hidden_by[name]),
            waivable=name in waivable,
        )
        for name, text in texts.items()
    ]
    return {rule.name: rule for rule in (*checked, *map(_policy, extensions.rules()))}


def matching(text: str) -> list[str]:
    """Return the names of the rules that ``text`` selects; empty if it selects none.

    A text selects by an id of the catalogue (``SEC-03``), an area of ids (``SEC``), a room (``network``), or the first
    part of the names of cross-checks (``networks``). Rules of ids are in the order of the catalogue.
    """
    known, rooms = rules(), _rooms()
    of_ids = (*catalogue.rules_of(text), *catalogue.rules_of_area(text))
    others = (name for name in known if rooms.get(name) == text or name.startswith(f"{text}."))
    return [name for name in dict.fromkeys((*of_ids, *others)) if name in known]


def filters() -> list[str]:
    """Return the rooms and the areas of ids that select rules."""
    return [*sorted({*_rooms().values()}), *catalogue.areas()]


def _rooms() -> dict[str, str]:
    """Return the room of each cross-check and of each of Jacquard's policies."""
    policies = {module.RULE.name: module.__name__.split(".")[-2] for module in MODULES}
    return checks.rooms() | policies


def _policy(rule: Rule) -> Explained:
    levels = {stage.value: rule.levels[stage].value for stage in Stage if stage in rule.levels}
    period = str(rule.advisory_period) if rule.advisory_period else None
    return Explained(name=rule.name, text=rule.description, why=rule.why, levels=levels, advisory=period, waivable=True)
