"""Firmware baselines: the settings and versions that hosts of an instance type have below their image."""

from __future__ import annotations

from pydantic import Field

from components.specs.base import DataFile, Label, QualifiedName, Spec, Text, VersionName


class FirmwareBaseline(Spec):
    """BIOS settings and component versions that were tested together."""

    name: VersionName
    instance_types: tuple[Label, ...] = Field(min_length=1)
    """Hardware it is meant for; settings have other names on other boards."""
    bios: dict[QualifiedName, int | Text] = Field(default_factory=dict)
    """Settings by the vendor's name, as Redfish shows them."""
    components: dict[Label, Text] = Field(default_factory=dict)
    """Version of each component: ``bios``, ``bmc``, ``nic``, ``gpu``."""


class FirmwareCatalog(DataFile):
    """``catalog/firmware.yaml``; optional."""

    firmware_baselines: tuple[FirmwareBaseline, ...] = ()
