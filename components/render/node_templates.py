"""What a node is made from: the intent behind the two templates of a rollout group, and what a revision returns."""

from __future__ import annotations

from dataclasses import dataclass

from components.render.manifest import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateIntent:
    """All that may decide what a node of a group is. Whatever is not here never rolls a node."""

    pool: str
    failure_domain: str
    image_version: str
    image_url: str
    image_sha256: str
    taints: tuple[tuple[str, str, str], ...]
    """Key, value and effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTemplates:
    """Specs of the templates of one rollout group."""

    machine: Json
    """``Metal3MachineTemplate.spec``."""
    bootstrap: Json
    """``KubeadmConfigTemplate.spec``."""
