"""Firmware baselines: the settings and versions that hosts of an instance type have below their image."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from components.specs.base import CheckedSpec, DataFile, HttpsUrl, Label, Misfit, QualifiedName, Spec, Text, VersionName

UPDATED = ("bios", "bmc")
"""Components that Metal3 writes on every host; of network cards it wants the vendor's name of each adapter."""
_NEVER_SET = "Password"


class FirmwareComponent(Spec):
    """One component's firmware."""

    version: Text
    """As the BMC reports it."""
    url: HttpsUrl | None = None
    """Where a BMC fetches it, for ``bios`` and ``bmc``. Without one the version is compared only, never written."""


class FirmwareBaseline(CheckedSpec):
    """BIOS settings and component versions that were tested together."""

    name: VersionName
    instance_types: tuple[Label, ...] = Field(min_length=1)
    """Hardware it is meant for; settings have other names on other boards."""
    bios: dict[QualifiedName, int | Text] = Field(default_factory=dict)
    """Settings by the vendor's name, as Redfish shows them. Metal3's FirmwareSchema of a host says which there are."""
    components: dict[Label, FirmwareComponent] = Field(default_factory=dict)
    """By component: ``bios``, ``bmc``, ``nic``, ``gpu``. Those with a URL are written in this order."""

    @property
    def updates(self) -> dict[str, str]:
        """Return the URL of each component that is written."""
        return {name: component.url for name, component in self.components.items() if component.url}

    def misfits(self) -> Iterator[Misfit]:
        """Yield URLs that nobody would use, and settings that Metal3 refuses."""
        for name, url in self.updates.items():
            if name not in UPDATED:
                text = f"only {' and '.join(UPDATED)} are written to hosts; remove it, the version is compared anyway"
                yield Misfit(text, ("components", name, "url"), url)
        for name in self.bios:
            if _NEVER_SET in name:
                yield Misfit("Metal3 sets no passwords; remove it", ("bios", name))


class FirmwareCatalog(DataFile):
    """``catalog/firmware.yaml``; optional."""

    firmware_baselines: tuple[FirmwareBaseline, ...] = ()
