"""All revisions of node templates, and the fingerprint by which two rollouts are the same.

A rollout group is pinned to the revision it took when it last rolled. A library that learns to write better templates
gets a new revision; groups take it when they roll anyway, so that an upgrade of the library rolls nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from components.render import template_revision_1, template_revision_2
from components.render.node_templates import NodeTemplates, TemplateIntent
from components.render.objects import digest

_FINGERPRINT_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One way to write templates. It stays for ever, byte by byte."""

    build: Callable[[TemplateIntent], NodeTemplates]
    intent: tuple[str, ...]
    """Fields of the intent that it knows."""


REVISIONS = {
    1: Revision(build=template_revision_1.build, intent=template_revision_1.INTENT),
    2: Revision(build=template_revision_2.build, intent=template_revision_2.INTENT),
}


def fingerprint(intent: TemplateIntent, revision: int) -> str:
    """Return what stays the same exactly as long as ``intent``, as ``revision`` knows it, does: 16 hex digits.

    It is of what was declared, not of what was rendered: two libraries agree on it without comparing objects.
    """
    declared = asdict(intent)
    known = {name: declared[name] for name in REVISIONS[revision].intent}
    return digest({"revision": revision, "intent": known}, _FINGERPRINT_DIGITS)
