"""Results of a change: disruptive effects of edits, and violations of policies in base, head and engine."""

from collections.abc import Iterable, Iterator

from components.lookups.effects.effect import Effect
from components.specs.environment import Environment
from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from jacquard.engine import events
from jacquard.previews.impacts.impact import DISRUPTIVE, Impact
from jacquard.previews.preview import Offence, Preview, Standing
from policies import Judgement
from policies.result_data import ResultData, result_data
from policies.results import Result, Source, State, against, of_judgement


class ImpactAnswer(Impact):
    """Impact of a change on one environment, with the results of rules."""

    results: tuple[ResultData, ...]
    """Results of the rules on the change: disruptive effects, and advice."""

    @classmethod
    def of(cls, impact: Impact, results: Iterable[Result]) -> "ImpactAnswer":
        """Return ``impact`` with ``results``."""
        return cls(**dict(impact), results=tuple(map(result_data, results)))


class PreviewAnswer(Preview):
    """Preview of a change of one environment, with the results of all rules."""

    results: tuple[ResultData, ...]
    """Results of policies in the head, of the rules on the change, and of the engine."""

    @classmethod
    def of(cls, preview: Preview, results: Iterable[Result]) -> "PreviewAnswer":
        """Return ``preview`` with ``results``."""
        return cls(**dict(preview), results=tuple(map(result_data, results)))


def of_impact(impact: Impact) -> Iterator[Result]:
    """Yield a result with the effect of each edit that disrupts running workloads, may do so, or is rejected."""
    for row in impact.rows:
        if row.effect in (*DISRUPTIVE, Effect.UNKNOWN, Effect.REFUSED):
            what = f"{row.count} {row.falls_on}" if row.count is not None else row.falls_on
            result = Result(
                environment=impact.environment,
                rule=f"impact.{row.effect}".replace(" ", "-"),
                source=Source.CHANGE,
                subject=row.part,
                text=f"{row.effect}: {what} of {row.part}",
                level=Enforcement.MANDATORY if row.effect is Effect.REFUSED else Enforcement.ADVISORY,
                state=State.NEW,
            )
            if row.effect is Effect.REFUSED and not row.causes:
                yield result
            for cause in row.causes:
                yield replace(result, file=cause.file, line=max(1, cause.line))


def of_judgements(base: tuple[Judgement, Environment], head: tuple[Judgement, Environment]) -> Iterator[Result]:
    """Yield the results of the policies in the head, with their state relative to the base."""
    yield from against(of_judgement(*base), of_judgement(*head))


def of_offences(environment: str, offences: Iterable[Offence]) -> Iterator[Result]:
    """Yield the violations that only a run of the engine reports, at the file of the region."""
    for offence in offences:
        if offence.standing is Standing.TOLD:
            yield Result(
                environment=environment,
                rule=offence.rule,
                source=Source.ENGINE,
                subject=offence.subject,
                text=f"{offence.subject}: {offence.found}; {offence.fix}",
                level=offence.level,
            )


def of_engine(environment: str, violations: Iterable[events.Violation]) -> Iterator[Result]:
    """Yield the violations that a run of the engine reported, at the file of the region."""
    for item in dict.fromkeys(violations):
        yield Result(
            environment=environment,
            rule=item.policy,
            source=Source.ENGINE,
            subject=str(item.urn),
            text=item.message,
            level=Enforcement.MANDATORY if item.mandatory else Enforcement.ADVISORY,
        )
