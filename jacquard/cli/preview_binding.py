"""Checks that an apply matches its preview; otherwise nothing is applied, and all differences are reported."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from components.lookups.pools import place
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import abbreviated
from components.specs.region.previews import Applies
from jacquard.cli.comparisons import base_comparison
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.engine.driver import Engine
from jacquard.engine.recorded import state_digest
from jacquard.machine import paths
from jacquard.previews.attestations import attestation
from jacquard.previews.attestations.approvals import missing
from jacquard.previews.attestations.attestation import AttestationError, Statement
from jacquard.previews.attestations.signing import SignatureError, signer
from jacquard.previews.attestations.statement import Candidate, facts_now
from jacquard.previews.impacts.edits import edits
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.tenant_impact import TenantImpact
from stacks.target import stack_names


@dataclass(frozen=True, slots=True)
class Apply:
    """An apply before it starts."""

    environment: Environment
    """Environment to apply."""
    engine: Engine
    """Engine that runs the apply."""
    now: dt.datetime
    """Start time of the command, with a time zone."""
    _: KW_ONLY
    preview: Path | None
    """Folder of the preview that the apply must match; None without a preview."""
    signers: Path | None = None
    """File with the allowed signers of previews; None for the signers of the region."""
    refresh: bool = False
    """Whether the apply also creates missing objects again, which no preview of a change contains."""

    def stacks(self) -> tuple[str, ...]:
        """Return the stacks to apply: those of the preview, if the data still match it.

        Without a preview, return all stacks if the region does not require a preview.

        Raises:
            Stop: with REFUSED, all reasons, and remedies.
        """
        name = self.environment.name
        if self.preview is None:
            if self.environment.region.previews.up_applies is not Applies.ANYTHING:
                explained = _unrefreshed if self.refresh else _unpreviewed
                raise Stop(explained(self.environment), ExitCode.REFUSED)
            return stack_names(self.environment)
        try:
            statement = self._read(self.preview)
        except (AttestationError, SignatureError) as error:
            again = f"preview again with: jacquard preview {name} --base REF --out {self.preview}"
            msg = f"{name}: nothing was applied: {error}\n  {again}"
            raise Stop(msg, ExitCode.REFUSED) from None
        if reasons := list(self._reasons(statement)):
            headline = f"{name}: differs from the preview in {self.preview}, nothing was applied"
            raise Stop("\n".join([headline, *(f"  {reason}" for reason in reasons)]), ExitCode.REFUSED)
        previewed = statement.of(name)
        return previewed.stacks if previewed else ()

    def _read(self, folder: Path) -> Statement:
        """Return the statement of the preview; verify its signature if signers are configured."""
        named = self.environment.region.previews.signers
        signers = self.signers or (paths.environments().parent / named if named else None)
        if signers:
            show(f"the preview in {folder} is signed by {signer(folder / attestation.FILE, signers)}", "note")
        return attestation.read(folder)

    def _reasons(self, statement: Statement) -> Iterator[str]:
        name, attested = self.environment.name, statement.predicate
        again = f"preview again with: jacquard preview {name} --base {abbreviated(attested.base)} --out {self.preview}"
        previewed = statement.of(name)
        if previewed is None:
            names = ", ".join(item.environment for item in attested.environments)
            yield f"the preview contains {names or 'no environment'}"
            yield again
            return
        try:
            impact = self._impact(attested.base)
        except Stop as stop:
            yield f"the effect of the change cannot be computed again: {stop}"
            yield again
            return
        stale = [str(fact) for fact in attestation.moved(statement.facts(name), self._facts(impact, previewed.stacks))]
        if attestation.is_over(statement, self.now):
            since, until, now = (moment.isoformat() for moment in (attested.made_at, attested.expires, self.now))
            stale.insert(0, f"the preview is valid from {since} until {until}; the time is {now}")
        yield from stale
        if stale:
            yield again
        for tenant in missing(impact):
            yield _unapproved(tenant)
            yield f"to record its approval: jacquard approve {name} {tenant.tenant} --base {abbreviated(attested.base)}"

    def _impact(self, base: str) -> Impact:
        with base_comparison.base_of(base) as earlier:
            edited = edits(earlier.environments, paths.environments(), self.environment.name)
            return base_comparison.impact(self.environment.name, earlier, edited)

    def _facts(self, impact: Impact, stacks: Sequence[str]) -> dict[str, str]:
        existing = [stack for stack in stacks if stack in stack_names(self.environment)]
        states = {stack: state_digest(self.engine.look(stack).resources) for stack in existing}
        engine = self.engine if stacks else None
        return facts_now(Candidate(environment=self.environment, impact=impact, states=states, engine=engine))


def _unapproved(tenant: TenantImpact) -> str:
    part = f"part {abbreviated(tenant.digest or '')}"
    if tenant.agreement:
        return f"the approval of {part} by {tenant.tenant} expired on {tenant.agreement.expires}"
    return f"{tenant.tenant} has not approved {part}"


def _unpreviewed(environment: Environment) -> str:
    name, at = environment.name, place(environment, REGION, ("previews", "up_applies"))
    return (
        f"{name}: 'up' applies only {environment.region.previews.up_applies} changes ({at}); preview the change and"
        f" name the folder: jacquard preview {name} --base REF --out DIR; jacquard up {name} --preview DIR"
    )


def _unrefreshed(environment: Environment) -> str:
    name, at = environment.name, place(environment, REGION, ("previews", "up_applies"))
    return (
        f"{name}: 'up' applies only {environment.region.previews.up_applies} changes ({at}), and the preview of a"
        " change does not contain the objects that --refresh finds missing; set previews.up_applies: anything until"
        f" they are created again, and review: jacquard preview {name} --refresh"
    )
