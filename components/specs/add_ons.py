"""Add-ons: what can be installed inside tenant clusters."""

from __future__ import annotations

from components.specs.base import DataFile, DnsLabel, Label, Spec


class AddOn(Spec):
    """One chart for tenant clusters. Checked with all that it needs; nothing renders it yet."""

    name: DnsLabel
    chart: Label
    """A chart of ``catalog/versions.yaml``."""
    namespace: DnsLabel
    default: bool = False
    """Whether clusters that say ``add_ons: default`` get it."""
    needs: tuple[DnsLabel, ...] = ()
    """Add-ons that must be installed before it."""
    gpu_only: bool = False
    """Whether it has a meaning only where nodes have GPUs."""


class AddOnCatalog(DataFile):
    """``catalog/add_ons.yaml``; optional."""

    add_ons: tuple[AddOn, ...] = ()
