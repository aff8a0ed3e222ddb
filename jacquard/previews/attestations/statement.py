"""Makes the statement of a preview: takes the digest of all that it was made from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from components.specs.environment import Environment
from jacquard.engine.driver import Engine
from jacquard.previews.attestations.attestation import (
    Asked,
    DigestSet,
    Predicate,
    Previewed,
    Statement,
    Subject,
    facts,
    text,
)
from jacquard.previews.attestations.inputs import inputs, rendered
from jacquard.previews.bases import Base
from jacquard.previews.impacts.impact import Impact


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An environment that was previewed, or is to be applied."""

    environment: Environment
    impact: Impact
    """What the change does to it."""
    states: Mapping[str, str]
    """Digest of what is recorded of each stack that the engine was asked about, by its name."""
    engine: Engine | None
    """The engine that was asked; None where none was."""


def attested(base: Base, found: Sequence[Found], now: dt.datetime) -> str:
    """Return the text of what a preview attests.

    Args:
        base: what it compares with.
        found: what was previewed, no stack with a failure.
        now: moment at which the preview began.
    """
    hours = min(one.environment.region.previews.valid_hours for one in found)
    return text(
        Statement(
            subject=tuple(subject for one in found for subject in _subjects(one)),
            predicate=Predicate(
                base=base.name,
                commit=base.head_name,
                made_at=now,
                expires=now + dt.timedelta(hours=hours),
                environments=tuple(map(_previewed, found)),
            ),
        )
    )


def facts_now(found: Found) -> dict[str, str]:
    """Return what `Statement.facts` said of an environment when it was previewed, as it is now."""
    return facts(_previewed(found), _subjects(found))


def _subjects(found: Found) -> tuple[Subject, ...]:
    objects = rendered(found.environment, found.states)
    return tuple(Subject(name=stack, digest=DigestSet(sha256=digest)) for stack, digest in objects.items())


def _previewed(found: Found) -> Previewed:
    return Previewed(
        environment=found.environment.name,
        stacks=tuple(found.states),
        asked=tuple(
            Asked(tenant=one.tenant, digest=one.digest, agreement=one.agreement)
            for one in found.impact.tenants
            if one.asks and one.digest
        ),
        inputs=inputs(found.environment, found.impact, found.states),
        tools=_tools(found.engine),
    )


def _tools(engine: Engine | None) -> Mapping[str, str]:
    ours = {"jacquard": version("jacquard")}
    if engine is None:
        return ours
    return ours | {"pulumi": engine.version} | {f"plug-in {name}": str(one) for name, one in engine.serving.items()}
