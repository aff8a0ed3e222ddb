"""All revisions of node templates, and the fingerprint by which two rollouts are the same.

A rollout group has the revision of its intent, which it took when it last rolled. A library that learns to write better
templates gets a new revision; groups take it when they roll anyway, so that an upgrade of the library rolls nothing.
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
    """One way to write templates. It stays for ever, byte by byte."""

    build: Callable[[TemplateIntent], NodeTemplates]
    intent: tuple[str, ...] = ()
    """Fields that its fingerprint is of; empty: the fingerprint is that of the node's intent, as a lock file has it."""


KNOWS_MIRRORS = 4
"""First revision whose nodes may pull through a mirror."""
KNOWS_ADDRESSES = 5
"""First revision whose nodes may be given their address."""
KNOWS_GPU_SHARING = 6
"""First revision whose nodes may have GPUs that pods share."""
KNOWS_DUAL_STACK = 7
"""First revision whose nodes may be in a cluster with IPv6 beside IPv4."""
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
"""Revision that a new intent takes."""
CLUSTER_WIDE = (1, 2)
"""Revisions whose nodes take the kubelet's settings from their cluster."""


def fingerprint(intent: NodeIntent, at: TemplateIntent) -> str:
    """Return what stays the same exactly as long as what ``intent`` says does: 16 hex digits.

    It is of what was declared, not of what was rendered: two libraries agree on it without comparing objects.

    Args:
        intent: of a rollout group.
        at: what the templates of the group are built of.
    """
    known = REVISIONS[intent.revision].intent
    return older_fingerprint(at, intent.revision) if known else intent.fingerprint


def older_fingerprint(at: TemplateIntent, revision: int) -> str:
    """Return the fingerprint that ``revision`` made of a rollout group before lock files held intents."""
    declared = asdict(at)
    known = {name: declared[name] for name in REVISIONS[revision].intent}
    return digest({"revision": revision, "intent": known}, FINGERPRINT_DIGITS)
