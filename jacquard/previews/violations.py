"""Policy violations of a change: new, existing, fixed and waived ones."""

import datetime as dt
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from typing import TypeAlias

from components.specs.region.policy import Enforcement, WaiverSpec
from jacquard.engine import events
from jacquard.previews.preview import Offence, Standing, Waiver
from jacquard.previews.secrets import Secrets
from policies import Judgement, Violation
from policies.waivers import subjects

_Key: TypeAlias = tuple[str, str, str]
"""Rule, subject and problem of a violation, without the object, so that a recreated template is no new violation."""
_ORDER = tuple(Standing)


def offences(
    base: Judgement, head: Judgement, reported: Iterable[events.Violation], today: dt.date
) -> tuple[Offence, ...]:
    """Return the policy violations, blocking ones first.

    Args:
        base: policy results of the region before the change.
        head: policy results of the region after the change.
        reported: violations reported by a run of the engine, which also checks providers and freezes.
        today: day from which the remaining days of waivers are counted.
    """
    before, after = _by_key(base), _by_key(head)
    violations = [_offence(key, items, _standing(key, items, before), today) for key, items in after.items()]
    violations += [
        _offence(key, items, Standing.FIXED, today)
        for key, items in before.items()
        if key not in after and not items[0].is_waived
    ]
    violations += (_waived_check(rule, text, waiver, today) for rule, text, waiver in _checks(head))
    known = {(item.rule.name, item.fact.title, item.finding.found) for items in after.values() for item in items}
    violations += _reported(reported, known)
    return tuple(sorted(map(_masked, violations), key=_place))


def _masked(offence: Offence) -> Offence:
    """Return a violation with likely secrets masked, such as credentials in a URL."""
    mask = Secrets().mask
    return offence.model_copy(update={"found": mask(offence.found), "fix": mask(offence.fix)})


def _place(offence: Offence) -> tuple[bool, int, str, str, str]:
    return (not offence.refuses, _ORDER.index(offence.standing), offence.rule, offence.subject, offence.found)


def _by_key(judgement: Judgement) -> dict[_Key, list[Violation]]:
    by_key: dict[_Key, list[Violation]] = defaultdict(list)
    for item in (*judgement.refused, *judgement.advised, *judgement.waived):
        by_key[item.rule.name, _subject(item), item.finding.found].append(item)
    return by_key


def _subject(item: Violation) -> str:
    return next(iter(subjects(item.fact)), item.fact.title)


def _standing(key: _Key, items: list[Violation], before: dict[_Key, list[Violation]]) -> Standing:
    if items[0].is_waived:
        return Standing.WAIVED
    return Standing.EXISTING if key in before else Standing.NEW


def _offence(key: _Key, items: list[Violation], standing: Standing, today: dt.date) -> Offence:
    first = items[0]
    return Offence(
        rule=key[0],
        subject=key[1],
        objects=tuple(sorted({item.fact.title for item in items})),
        standing=standing,
        level=first.level,
        binding=first.binding,
        found=first.finding.found,
        fix=first.finding.fix,
        waiver=_waiver(first.waiver, today) if first.is_waived and first.waiver else None,
    )


def _checks(judgement: Judgement) -> Iterator[tuple[str, str, WaiverSpec]]:
    for problem, waiver in judgement.waived_checks:
        yield problem.rule, f"{problem.place} {problem.where}{problem.text}", waiver


def _waived_check(rule: str, text: str, waiver: WaiverSpec, today: dt.date) -> Offence:
    return Offence(
        rule=rule,
        subject=waiver.subject,
        standing=Standing.WAIVED,
        level=Enforcement.ADVISORY,
        found=text,
        fix="fix it before the waiver expires",
        waiver=_waiver(waiver, today),
    )


def _waiver(waiver: WaiverSpec, today: dt.date) -> Waiver:
    left = (waiver.expires - today).days
    return Waiver(
        reason=waiver.reason, owner=waiver.owner, ticket=waiver.ticket, expires=waiver.expires, days_left=left
    )


def _reported(reported: Iterable[events.Violation], known: Container[_Key]) -> Iterator[Offence]:
    """Yield the violations that only the engine reports; messages of other policy packs are kept unparsed."""
    for item in dict.fromkeys(reported):
        parsed = dict(_parsed(item.message))
        subject, problem = parsed.get(item.policy, str(item.urn)), parsed.get("found", item.message)
        if (item.policy, subject, problem) not in known:
            yield Offence(
                rule=item.policy,
                subject=subject,
                standing=Standing.TOLD,
                level=Enforcement.MANDATORY if item.mandatory else Enforcement.ADVISORY,
                found=problem,
                fix=parsed.get("fix", "see the description of the policy"),
            )


def _parsed(message: str) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of the ``key: value`` lines in a message of the policy pack."""
    for line in message.splitlines():
        key, colon, text = line.strip().partition(": ")
        if colon:
            yield key, text.strip()
