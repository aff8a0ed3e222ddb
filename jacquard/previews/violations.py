"""What policies say of a change: offences that it brings, that were there before, that it mends, that are waived."""

from __future__ import annotations

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
"""Rule, what offends, and what is wrong with it: a template that is made anew is no new offence."""
_ORDER = tuple(Standing)


def offences(base: Judgement, head: Judgement, told: Iterable[events.Violation], today: dt.date) -> tuple[Offence, ...]:
    """Return what policies say, what refuses first.

    Args:
        base: of the region as it was.
        head: of the region as it will be.
        told: what a run of the engine said, which also knows providers and whom a freeze protects.
        today: the day that waivers are counted from.
    """
    before, after = _by_key(base), _by_key(head)
    found = [_offence(key, items, _standing(key, items, before), today) for key, items in after.items()]
    found += [
        _offence(key, items, Standing.FIXED, today)
        for key, items in before.items()
        if key not in after and not items[0].is_waived
    ]
    found += (_waived_check(rule, text, waiver, today) for rule, text, waiver in _checks(head))
    known = {(item.rule.name, item.fact.title, item.finding.found) for items in after.values() for item in items}
    found += _told(told, known)
    return tuple(sorted(map(_masked, found), key=_place))


def _masked(offence: Offence) -> Offence:
    """Return an offence without what looks like a secret, such as credentials in a URL."""
    mask = Secrets().mask
    return offence.model_copy(update={"found": mask(offence.found), "fix": mask(offence.fix)})


def _place(offence: Offence) -> tuple[bool, int, str, str, str]:
    return (not offence.refuses, _ORDER.index(offence.standing), offence.rule, offence.subject, offence.found)


def _by_key(judgement: Judgement) -> dict[_Key, list[Violation]]:
    found: dict[_Key, list[Violation]] = defaultdict(list)
    for item in (*judgement.refused, *judgement.advised, *judgement.waived):
        found[item.rule.name, _subject(item), item.finding.found].append(item)
    return found


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
        found=first.finding.found,
        fix=first.finding.fix,
        waiver=_waiver(first.waiver, today) if first.is_waived and first.waiver else None,
    )


def _checks(judgement: Judgement) -> Iterator[tuple[str, str, WaiverSpec]]:
    for problem, waiver in judgement.waived_checks:
        yield problem.rule, f"{problem.place} {problem.path}: {problem.text}", waiver


def _waived_check(rule: str, text: str, waiver: WaiverSpec, today: dt.date) -> Offence:
    return Offence(
        rule=rule,
        subject=waiver.subject,
        standing=Standing.WAIVED,
        level=Enforcement.ADVISORY,
        found=text,
        fix="mend it before the waiver is void",
        waiver=_waiver(waiver, today),
    )


def _waiver(waiver: WaiverSpec, today: dt.date) -> Waiver:
    left = (waiver.expires - today).days
    return Waiver(
        reason=waiver.reason, owner=waiver.owner, ticket=waiver.ticket, expires=waiver.expires, days_left=left
    )


def _told(found: Iterable[events.Violation], known: Container[_Key]) -> Iterator[Offence]:
    """Yield what only the engine knows, in the words of the pack; of other packs the message as it is."""
    for item in dict.fromkeys(found):
        said = dict(_said(item.message))
        subject, wrong = said.get(item.policy, str(item.urn)), said.get("found", item.message)
        if (item.policy, subject, wrong) not in known:
            yield Offence(
                rule=item.policy,
                subject=subject,
                standing=Standing.TOLD,
                level=Enforcement.MANDATORY if item.mandatory else Enforcement.ADVISORY,
                found=wrong,
                fix=said.get("fix", "see what the policy says"),
            )


def _said(message: str) -> Iterator[tuple[str, str]]:
    """Yield what the lines of a message of the pack say, by the word that each begins with."""
    for line in message.splitlines():
        word, colon, text = line.strip().partition(": ")
        if colon:
            yield word, text.strip()
