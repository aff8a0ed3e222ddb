"""deprecated-image: a node image that is deprecated or expired.

Why: the kernel and drivers of an image get fixes only for a limited time. From the day ``deprecated``, pools should
move to another image. From the day ``expires``, no node may be created from the image, because a repair would restore
known defects.

Reported: an image on or after its ``deprecated`` day.
Rejected: an image on or after its ``expires`` day, except in a rehearsal, whose nodes are simulated.
Correct: ``jacquard promote ENV POOL --to VERSION`` before the ``expires`` day.
"""

from components.specs.base import Stage
from components.specs.region.catalog import Lifecycle
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import Context, Fact
from policies.node_image import CATALOGUE, TEMPLATES, catalogued
from policies.verdict import PASS, Finding, advisory, listed, violation

_USABLE = frozenset({Lifecycle.PREVIEW, Lifecycle.SUPPORTED})


def find(fact: Fact, context: Context) -> Finding:
    """Check the lifecycle of the template's image today."""
    entry = catalogued(fact, context)
    if isinstance(entry, Finding):
        return entry
    phase = entry.lifecycle(context.today)
    if phase in _USABLE:
        return PASS
    expired = phase is Lifecycle.EXPIRED
    since = entry.expires if expired else entry.deprecated
    usable = [
        other.version
        for other in context.images
        if context.channel in other.channel
        and not other.revoked
        and set(other.fits) & set(entry.fits)
        and other.lifecycle(context.today) in _USABLE
    ]
    return violation(
        found=f"{entry.version}, {phase} since {since} ({CATALOGUE})",
        allowed=f"images of channel {context.channel} for {listed(entry.fits)}: {listed(usable)}",
        fix="move the pool to another image with jacquard promote"
        + ("" if expired else f" before {entry.expires}, when the image expires"),
        level=Enforcement.MANDATORY if expired and context.stage is not Stage.REHEARSAL else None,
    )


RULE = advisory(
    RuleId.DEPRECATED_IMAGE,
    description="A node boots a maintained image.",
    why="the image's kernel and drivers no longer get fixes",
    kinds=TEMPLATES,
    find=find,
)
