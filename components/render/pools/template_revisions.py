"""All revisions of node templates.

The revision of a rollout group is part of its intent and changes only with a rollout. An improvement of the templates
requires a new revision, which groups use from their next rollout. An upgrade of the library replaces no nodes.
"""

from collections.abc import Callable

from components.render.pools import template_revision_1
from components.render.pools.node_templates import NodeTemplates, TemplateIntent

REVISIONS: dict[int, Callable[[TemplateIntent], NodeTemplates]] = {1: template_revision_1.build}
"""Functions that build node templates, by revision. The output of a released revision stays byte-identical."""


def newest() -> int:
    """Return the revision of new intents."""
    return max(REVISIONS)
