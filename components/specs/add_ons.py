"""Add-ons: what can be installed inside tenant clusters."""

from __future__ import annotations

from components.specs.base import DataFile, DnsLabel, Label, Spec


class AddOn(Spec):
    """One Helm chart for tenant clusters, checked together with all that it needs. Nothing renders add-ons yet."""

    name: DnsLabel
    """Name that ``add_ons`` of a cluster and ``needs`` of other add-ons refer to."""
    chart: Label
    """Chart of ``catalog/versions.yaml`` that the add-on installs."""
    namespace: DnsLabel
    """Namespace of the tenant cluster that the chart is meant to be installed in."""
    default: bool = False
    """Whether clusters that say ``add_ons: default`` get the add-on."""
    needs: tuple[DnsLabel, ...] = ()
    """Names of the add-ons that must be installed before this one."""
    gpu_only: bool = False
    """Whether the add-on has a meaning only where nodes have GPUs."""


class AddOnCatalog(DataFile):
    """``catalog/add_ons.yaml``, an optional file."""

    add_ons: tuple[AddOn, ...] = ()
    """Add-ons that clusters may ask for by name; a cluster gets those with ``default`` unless it lists its own."""
