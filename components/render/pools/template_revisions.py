"""All revisions of node templates.

The revision of a rollout group is part of its intent, and dates from its last rollout. An improvement of the templates
requires a new revision. Groups adopt it with their next rollout, so an upgrade of the library rolls no nodes.
"""

from __future__ import annotations

from collections.abc import Callable

from components.render.pools import template_revision_1
from components.render.pools.node_templates import NodeTemplates, TemplateIntent

REVISIONS: dict[int, Callable[[TemplateIntent], NodeTemplates]] = {1: template_revision_1.build}
"""Builds node templates, by revision. The output of a released revision never changes, byte by byte."""


def newest() -> int:
    """Return the revision of new intents."""
    return max(REVISIONS)
