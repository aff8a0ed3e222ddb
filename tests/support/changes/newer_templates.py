"""A later library version: one more revision of the templates of nodes and of DPUs."""

from __future__ import annotations

import pytest

from components.render.network import dpu_templates
from components.render.network.dpu_templates import DpuTemplates
from components.render.pools import template_revisions
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.pools.intents import DpuIntent
from components.specs.struct import replace

NEXT_NODES, NEXT_DPUS = template_revisions.newest() + 1, dpu_templates.newest() + 1
"""Revisions that `add_revisions` adds."""


def add_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a revision of both kinds of templates."""
    monkeypatch.setitem(template_revisions.REVISIONS, NEXT_NODES, _newer_nodes)
    monkeypatch.setitem(dpu_templates.REVISIONS, NEXT_DPUS, _newer_dpus)
    monkeypatch.setitem(template_revisions.CHANGES, NEXT_NODES, "nodes are newer")
    monkeypatch.setitem(dpu_templates.CHANGES, NEXT_DPUS, "DPUs are newer")


def _newer_nodes(intent: TemplateIntent) -> NodeTemplates:
    older = template_revisions.REVISIONS[1](intent)
    return replace(older, machine={**older.machine, "newer": True})


def _newer_dpus(intent: DpuIntent) -> DpuTemplates:
    older = dpu_templates.REVISIONS[1](intent)
    return replace(older, flavor_name=f"{older.flavor_name}-newer", flavor={**older.flavor, "newer": True})
