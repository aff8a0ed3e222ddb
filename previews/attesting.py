"""Makes the statement of a preview: asks the engine what is recorded, and takes the digest of all else."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from components.specs.environment import Environment
from engine.driver import Engine
from engine.recorded import state_digest
from previews.attestation import FILE, Asked, DigestSet, Predicate, Previewed, Statement, Subject, facts, text
from previews.bases import Base
from previews.impact import Impact
from previews.inputs import inputs, rendered
from previews.signing import sign, signature_of
from stacks.target import stack_names
from toolchain.files import replace_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An environment that was previewed whole."""

    environment: Environment
    engine: Engine
    impact: Impact


def attest(folder: Path, base: Base, found: Sequence[Found], now: dt.datetime, *, key: Path | None = None) -> Path:
    """Write what a preview attests into ``folder``, which is there, and return the file.

    Args:
        folder: of the preview.
        base: what it compares with.
        found: what was previewed, all stacks of it without a failure.
        now: moment at which the preview began.
        key: SSH key by which the statement is signed; it is not where this is None.

    Raises:
        SignatureError: it cannot be signed.
        EngineError: a state cannot be read.
    """
    hours = min(one.environment.region.previews.valid_hours for one in found)
    statement = Statement(
        subject=tuple(subject for one in found for subject in _subjects(one.environment)),
        predicate=Predicate(
            base=base.name,
            commit=base.head_name,
            made_at=now,
            expires=now + dt.timedelta(hours=hours),
            environments=tuple(map(_previewed, found)),
        ),
    )
    withdraw(folder)
    path = folder / FILE
    replace_text(path, text(statement))
    if key:
        sign(path, key)
    return path


def withdraw(folder: Path) -> None:
    """Remove the statement of an earlier preview from ``folder``, so that nothing is applied by it."""
    path = folder / FILE
    for one in (path, signature_of(path)):
        one.unlink(missing_ok=True)


def facts_now(found: Found) -> dict[str, str]:
    """Return what `Statement.facts` said of an environment when it was previewed, as it is now."""
    return facts(_previewed(found), _subjects(found.environment))


def _subjects(environment: Environment) -> tuple[Subject, ...]:
    objects = rendered(environment)
    return tuple(Subject(name=stack, digest=DigestSet(sha256=digest)) for stack, digest in objects.items())


def _previewed(found: Found) -> Previewed:
    return Previewed(
        environment=found.environment.name,
        stacks=stack_names(found.environment),
        asked=tuple(
            Asked(tenant=one.tenant, digest=one.digest, agreement=one.agreement)
            for one in found.impact.tenants
            if one.asks and one.digest
        ),
        inputs=inputs(found.environment, found.impact, _states(found)),
        tools=_tools(found.engine),
    )


def _states(found: Found) -> dict[str, str]:
    states = {}
    for stack in stack_names(found.environment):
        found.engine.select(stack)
        states[stack] = state_digest(found.engine.export(stack))
    return states


def _tools(engine: Engine) -> Mapping[str, str]:
    plug_ins = {f"plug-in {name}": str(one) for name, one in engine.serving.items()}
    return {"jacquard": version("jacquard"), "pulumi": engine.version, **plug_ins}
