"""Creation of the statement of a preview, with the digests of all its inputs."""

import datetime as dt
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from components.specs.environment import Environment
from components.specs.struct import Struct
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


class Candidate(Struct):
    """An environment that was previewed, or that is to be applied."""

    environment: Environment
    impact: Impact
    """Impact of the change on the environment."""
    states: Mapping[str, str]
    """Digest of the recorded state of each stack that the engine previewed, by stack name."""
    engine: Engine | None
    """Engine of the preview; None if it did not run."""


def attested(base: Base, found: Sequence[Candidate], now: dt.datetime) -> str:
    """Return the text of the statement of a preview.

    Args:
        base: base of the comparison.
        found: previewed environments, without failed stacks.
        now: start time of the preview.
    """
    hours = min(item.environment.region.previews.valid_hours for item in found)
    return text(
        Statement(
            subject=tuple(subject for item in found for subject in _subjects(item)),
            predicate=Predicate(
                base=base.name,
                commit=base.head_name,
                made_at=now,
                expires=now + dt.timedelta(hours=hours),
                environments=tuple(map(_previewed, found)),
            ),
        )
    )


def facts_now(found: Candidate) -> dict[str, str]:
    """Return the current values of the facts that `Statement.facts` returns with their values at the preview."""
    return facts(_previewed(found), _subjects(found))


def _subjects(found: Candidate) -> tuple[Subject, ...]:
    objects = rendered(found.environment, found.states)
    return tuple(Subject(name=stack, digest=DigestSet(sha256=digest)) for stack, digest in objects.items())


def _previewed(found: Candidate) -> Previewed:
    return Previewed(
        environment=found.environment.name,
        stacks=tuple(found.states),
        asked=tuple(
            Asked(tenant=tenant.tenant, digest=tenant.digest, agreement=tenant.agreement)
            for tenant in found.impact.tenants
            if tenant.asks and tenant.digest
        ),
        inputs=inputs(found.environment, found.impact, found.states),
        tools=_tools(found.engine),
    )


def _tools(engine: Engine | None) -> Mapping[str, str]:
    tools = {"jacquard": version("jacquard")}
    if engine is None:
        return tools
    plug_ins = {f"plug-in {name}": str(plug_in) for name, plug_in in engine.serving.items()}
    return tools | {"pulumi": engine.version} | plug_ins
