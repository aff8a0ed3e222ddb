"""Holds an apply to the preview that it names: nothing is applied that was not previewed, and each reason is told."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from components.lookups.pools import place
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.region.previews import Applies
from jacquard.cli import base_comparison
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.engine.driver import Engine
from jacquard.engine.recorded import state_digest
from jacquard.machine import paths
from jacquard.previews.attestations import attestation
from jacquard.previews.attestations.approvals import missing
from jacquard.previews.attestations.attestation import DIGITS, AttestationError, Statement
from jacquard.previews.attestations.signing import SignatureError, signer
from jacquard.previews.attestations.statement import Found, facts_now
from jacquard.previews.impacts.edits import edits
from jacquard.previews.impacts.impact import Impact, TenantImpact
from stacks.target import stack_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply:
    """An apply that is to begin."""

    environment: Environment
    """What would be applied."""
    engine: Engine
    """What would apply it."""
    now: dt.datetime
    """Moment at which the command began, with a time zone."""
    preview: Path | None
    """Folder of the preview that it is held to; None where none is named."""
    signers: Path | None = None
    """Who may sign previews; those that the region names if it is None."""

    def stacks(self) -> tuple[str, ...]:
        """Return the stacks that may be applied, if this is what the preview showed: those that it was asked about.

        All of them may where no preview is named, and none is needed.

        Raises:
            Stop: with REFUSED, each reason, and what to do about it.
        """
        name = self.environment.name
        if self.preview is None:
            if self.environment.region.previews.up_applies is not Applies.ANYTHING:
                raise Stop(_unpreviewed(self.environment), ExitCode.REFUSED)
            return stack_names(self.environment)
        try:
            statement = self._read(self.preview)
        except (AttestationError, SignatureError) as error:
            again = f"preview again with: jacquard preview {name} --base REF --out {self.preview}"
            msg = f"{name}: nothing was applied: {error}\n  {again}"
            raise Stop(msg, ExitCode.REFUSED) from None
        if reasons := list(self._reasons(statement)):
            headline = f"{name}: is not what the preview in {self.preview} showed, nothing was applied"
            raise Stop("\n".join([headline, *(f"  {one}" for one in reasons)]), ExitCode.REFUSED)
        said = statement.of(name)
        return said.stacks if said else ()

    def _read(self, folder: Path) -> Statement:
        """Return what the preview attests, signed by somebody who may where that is asked for."""
        named = self.environment.region.previews.signers
        signers = self.signers or (paths.environments().parent / named if named else None)
        if signers:
            show(f"the preview in {folder} is signed by {signer(folder / attestation.FILE, signers)}", "note")
        return attestation.read(folder)

    def _reasons(self, statement: Statement) -> Iterator[str]:
        name, said = self.environment.name, statement.predicate
        again = f"preview again with: jacquard preview {name} --base {said.base[:DIGITS]} --out {self.preview}"
        previewed = statement.of(name)
        if previewed is None:
            yield f"it previews {', '.join(one.environment for one in said.environments) or 'nothing'}"
            yield again
            return
        try:
            impact = self._impact(said.base)
        except Stop as stop:
            yield f"what the change does cannot be told again: {stop}"
            yield again
            return
        stale = [str(one) for one in attestation.moved(statement.facts(name), self._facts(impact, previewed.stacks))]
        if attestation.is_over(statement, self.now):
            since, until, now = (moment.isoformat() for moment in (said.made_at, said.expires, self.now))
            stale.insert(0, f"it holds from {since} until {until}, and it is {now}")
        yield from stale
        if stale:
            yield again
        for tenant in missing(impact):
            yield _unsaid(tenant)
            yield f"once it agrees: jacquard approve {name} {tenant.tenant} --base {said.base[:DIGITS]}"

    def _impact(self, base: str) -> Impact:
        with base_comparison.base_of(base) as earlier:
            edited = edits(earlier.environments, paths.environments(), self.environment.name)
            return base_comparison.impact(self.environment.name, earlier, edited)

    def _facts(self, impact: Impact, stacks: Sequence[str]) -> dict[str, str]:
        there = [stack for stack in stacks if stack in stack_names(self.environment)]
        states = {stack: state_digest(self.engine.look(stack).resources) for stack in there}
        engine = self.engine if stacks else None
        return facts_now(Found(environment=self.environment, impact=impact, states=states, engine=engine))


def _unsaid(tenant: TenantImpact) -> str:
    part = f"part {(tenant.digest or '')[:DIGITS]}"
    if tenant.agreement:
        return f"{tenant.tenant} agreed to {part} until {tenant.agreement.expires}, which is over"
    return f"{tenant.tenant} has not agreed to {part}"


def _unpreviewed(environment: Environment) -> str:
    name, at = environment.name, place(environment, REGION, ("previews", "up_applies"))
    return (
        f"{name}: only what is {environment.region.previews.up_applies} is applied ({at}); preview it, and name the"
        f" folder: jacquard preview {name} --base REF --out DIR; jacquard up {name} --preview DIR"
    )
