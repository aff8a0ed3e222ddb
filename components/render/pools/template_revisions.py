"""All revisions of node templates.

The revision of a rollout group is part of its intent and changes only with a rollout. An improvement of the templates
requires a new revision, which groups use from their next rollout. An upgrade of the library replaces no nodes.
"""

from collections.abc import Callable

from components.render.pools import template_revision_1, template_revision_2
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.render.revision_needs import Need
from components.specs.pools.intents import NodeIntent
from components.specs.region.region import ControlPlaneBackend

REVISIONS: dict[int, Callable[[TemplateIntent], NodeTemplates]] = {
    1: template_revision_1.build,
    2: template_revision_2.build,
}
"""Functions that build node templates, by revision. The output of a released revision stays byte-identical."""
CHANGES: dict[int, str] = {
    2: "registry hosts of containerd, the kubelet's folder with k0s, and with Metal3 any free host for a new node",
}
"""Improvement of each revision over the previous one, by revision, as one line for ``show ENV images``."""
NEEDS: tuple[Need[NodeIntent], ...] = (
    Need(
        revision=2,
        applies=lambda intent: intent.control_planes is ControlPlaneBackend.K0SMOTRON,
        reason="the kubelet of k0s uses a folder of its own, in which no storage driver registers",
    ),
)
"""Intents whose nodes do not work with older revisions. ``check`` rejects such pins until they are promoted."""


def newest() -> int:
    """Return the revision of new intents."""
    return max(REVISIONS)
