"""Judges the resources that the stacks of a region recorded, and the objects of its clusters."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from components.specs.environment import Environment
from components.specs.struct import Struct, replace
from jacquard.observe.live_declared import LiveObjects
from policies import extensions
from policies.facts import Context, Fact, object_fact
from policies.judging import Judge
from policies.places import Places
from policies.result_data import to_json
from policies.results import Result, Source, decision, of_violation


class Audit(Struct):
    """Result of an audit of one environment."""

    environment: str
    stacks: Mapping[str, int]
    """Number of judged objects, providers and options of resources, by stack."""
    missing: tuple[str, ...] = ()
    """Stacks of the data that were never applied."""
    live: int | None = None
    """Number of judged live objects; None if clusters were not read."""
    nodes: int | None = None
    """Number of inspected nodes; None if clusters were not read."""
    unread: tuple[str, ...] = ()
    """Clusters and kinds that could not be read, each with the reason."""
    results: tuple[Result, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the audit as data."""
        return {
            "environment": self.environment,
            "decision": decision(self.results).value,
            "stacks": dict(self.stacks),
            "missing": list(self.missing),
            "live": self.live,
            "nodes": self.nodes,
            "unread": list(self.unread),
            "results": to_json(self.results),
        }

    def with_nodes(self, nodes: int, results: Iterable[Result], unread: Iterable[str]) -> "Audit":
        """Return this audit with the results about live nodes and hosts, and the clusters that could not be read."""
        every = (*self.results, *results)
        return replace(self, nodes=nodes, results=_sorted(every), unread=tuple(dict.fromkeys((*self.unread, *unread))))


class Auditor:
    """The policies and the data of an environment, with which everything that exists is compared.

    Args:
        environment: data of the environment.
        now: time of the audit, with a time zone.
    """

    def __init__(self, environment: Environment, now: dt.datetime) -> None:
        self._places = Places(environment)
        self._judge = Judge(extensions.rules(), Context.of(environment, now))

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of facts that a policy judges."""
        return self._judge.kinds

    def judged(self, facts: Iterable[Fact], source: Source) -> list[Result]:
        """Return the violations of ``facts``."""
        return [
            of_violation(violation, self._places, source)
            for fact in facts
            for violation in self._judge.violations(fact)
        ]

    def judged_together(self, recorded: Mapping[str, Iterable[Fact]]) -> list[Result]:
        """Return the violations of stack-wide policies by the recorded objects of all stacks together.

        Objects of a stack refer to objects of others, as in ``check``.
        """
        created = (
            replace(fact, source=f"{fact.source} of stack {stack}")
            for stack, facts in recorded.items()
            for fact in facts
            if fact.source
        )
        violations = self._judge.stack_violations(created)
        return [of_violation(violation, self._places, Source.RECORDED) for violation in violations]

    def audit(self, recorded: Mapping[str, Iterable[Fact] | None], live: LiveObjects | None = None) -> Audit:
        """Return the audit of recorded facts by stack, and of live objects.

        Args:
            recorded: facts by stack; None for a stack that was never applied.
            live: objects of the clusters; None if they were not read.
        """
        known = {stack: list(facts) for stack, facts in recorded.items() if facts is not None}
        results = [result for facts in known.values() for result in self.judged(facts, Source.RECORDED)]
        results += self.judged_together(known)
        if live is not None:
            results += self.judged((object_fact(item.body, item.cluster) for item in live.objects), Source.LIVE)
        return Audit(
            environment=self._places.environment,
            stacks={stack: len(facts) for stack, facts in known.items()},
            missing=tuple(stack for stack, facts in recorded.items() if facts is None),
            live=None if live is None else len(live.objects),
            unread=() if live is None else live.unread,
            results=_sorted(results),
        )


def _sorted(results: Iterable[Result]) -> tuple[Result, ...]:
    return tuple(sorted(results, key=lambda item: (not item.blocks, item.rule, item.subject, item.source)))
