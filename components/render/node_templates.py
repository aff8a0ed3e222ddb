"""What a node is made from: the intent behind the two templates of a rollout group, and what a revision returns."""

from __future__ import annotations

from dataclasses import dataclass

from components.render.manifest import Json
from components.specs.bare_metal import BareMetalBackend
from components.specs.catalog import BootMode
from components.specs.region import ControlPlaneBackend


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateIntent:
    """All that may decide what a node of a group is. Whatever is not here never rolls a node.

    A revision sees only what it has known since it was made: a new field joins the newest revision's list.
    """

    control_plane: ControlPlaneBackend
    """Decides what a node joins with."""
    bare_metal: BareMetalBackend
    """Decides how a node is found and booted."""
    cluster: str
    pool: str
    failure_domain: str
    image_version: str
    image_url: str
    image_sha256: str
    taints: tuple[tuple[str, str, str], ...]
    """Key, value and effect."""
    boot: BootMode
    max_pods: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTemplates:
    """Specs of the templates of one rollout group."""

    machine: Json
    """Of the bare-metal backend's machine template."""
    bootstrap: Json
    """``KubeadmConfigTemplate.spec``, or ``K0sWorkerConfigTemplate.spec`` where k0smotron hosts control planes."""
