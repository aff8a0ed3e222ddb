"""All revisions of node templates, and the fingerprint of declared nodes.

The revision of a rollout group is part of its intent, and dates from its last rollout. An improvement of the templates
requires a new revision. Groups adopt it with their next rollout, so an upgrade of the library rolls no nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from components.render.objects import digest
from components.render.pools import (
    template_revision_1,
    template_revision_2,
    template_revision_3,
    template_revision_4,
    template_revision_5,
    template_revision_6,
    template_revision_7,
)
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.pools.intents import FINGERPRINT_DIGITS, NodeIntent


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A revision of the node templates. Its output never changes, byte by byte."""

    build: Callable[[TemplateIntent], NodeTemplates]
    intent: tuple[str, ...] = ()
    """Fields that determine its fingerprint; empty if it is the fingerprint of the whole intent in the lock file."""


KNOWS_MIRRORS = 4
"""First revision that supports a registry mirror."""
KNOWS_ADDRESSES = 5
"""First revision that supports node addresses."""
KNOWS_GPU_SHARING = 6
"""First revision that supports GPU sharing."""
KNOWS_DUAL_STACK = 7
"""First revision that supports dual-stack clusters."""
REVISIONS = {
    1: Revision(build=template_revision_1.build, intent=template_revision_1.INTENT),
    2: Revision(build=template_revision_2.build, intent=template_revision_2.INTENT),
    3: Revision(build=template_revision_3.build),
    KNOWS_MIRRORS: Revision(build=template_revision_4.build),
    KNOWS_ADDRESSES: Revision(build=template_revision_5.build),
    KNOWS_GPU_SHARING: Revision(build=template_revision_6.build),
    KNOWS_DUAL_STACK: Revision(build=template_revision_7.build),
}
NEWEST = max(REVISIONS)
"""Revision of new intents."""
CLUSTER_WIDE = (1, 2)
"""Revisions whose nodes use the kubelet settings of their cluster."""


def fingerprint(intent: NodeIntent, at: TemplateIntent) -> str:
    """Return the fingerprint of ``intent``, 16 hex digits; it changes exactly when the intent changes.

    It depends on the declared intent, not on rendered objects: two versions of the library compute the same one.

    Args:
        intent: intent of a rollout group.
        at: template inputs of the group.
    """
    fields = REVISIONS[intent.revision].intent
    return older_fingerprint(at, intent.revision) if fields else intent.fingerprint


def older_fingerprint(at: TemplateIntent, revision: int) -> str:
    """Return the fingerprint of a rollout group by ``revision``, from the time before lock files contained intents."""
    declared = asdict(at)
    fields = {name: declared[name] for name in REVISIONS[revision].intent}
    return digest({"revision": revision, "intent": fields}, FINGERPRINT_DIGITS)
