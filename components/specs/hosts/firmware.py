"""Firmware baselines: the settings and versions that hosts of an instance type have below their image."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from components.specs.base import CheckedSpec, DataFile, HttpsUrl, Label, Misfit, QualifiedName, Spec, Text, VersionName

UPDATED = ("bios", "bmc")
"""Components that Metal3 can write on every host. For network cards it wants the vendor's name of each adapter."""
_NEVER_SET = "Password"


class FirmwareComponent(Spec):
    """One component's firmware."""

    version: Text
    """Version of the firmware, written as the BMC reports it."""
    url: HttpsUrl | None = None
    """URL that a BMC fetches the firmware from, for ``bios`` and ``bmc`` alone. The version is compared and never
    written without one."""


class Firmware(CheckedSpec):
    """BIOS settings and component versions that were tested together."""

    name: VersionName
    """Unique name of the baseline, which ``firmware`` of golden images refers to."""
    bios: dict[QualifiedName, int | Text] = Field(default_factory=dict)
    """BIOS settings by the vendor's names, as Redfish shows them. A host's FirmwareSchema of Metal3 lists those there
    are."""
    components: dict[Label, FirmwareComponent] = Field(default_factory=dict)
    """Firmware by component: ``bios``, ``bmc``, ``nic``, ``gpu``. Those with a URL are written in this order."""

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


class FirmwareBaseline(Firmware):
    """A baseline of the catalogue, and the hardware it is meant for."""

    instance_types: tuple[Label, ...] = Field(min_length=1)
    """Hardware that the baseline is meant for; settings have other names on other boards."""

    @property
    def content(self) -> Firmware:
        """Return what hosts get, without what the catalogue says about it."""
        return Firmware(name=self.name, bios=self.bios, components=self.components)


class FirmwareCatalog(DataFile):
    """``catalog/firmware.yaml``, an optional file."""

    firmware_baselines: tuple[FirmwareBaseline, ...] = ()
    """Baselines that golden images may ask for."""
