"""Firmware baselines: BIOS settings and firmware versions of hosts, by instance type."""

from collections.abc import Iterator

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    DataFile,
    HttpsUrl,
    Label,
    QualifiedName,
    Spec,
    Text,
    VersionName,
)

UPDATED = ("bios", "bmc")
"""Components that Metal3 can update on every host. To update network cards it requires the vendor's name of each
adapter."""
_NEVER_SET = "Password"


class FirmwareComponent(Spec):
    """Firmware of one component."""

    version: Text
    """Version of the firmware, in the form that the BMC reports."""
    url: HttpsUrl | None = None
    """URL from which a BMC fetches the firmware, for ``bios`` and ``bmc`` only. Without a URL the version is compared
    but not updated."""


class Firmware(CheckedSpec):
    """BIOS settings and component versions that were tested together."""

    name: VersionName
    """Unique name of the baseline, referenced by ``firmware`` of golden images."""
    bios: dict[QualifiedName, int | Text] = Field(default_factory=dict)
    """BIOS settings by the vendor's names in Redfish. Metal3's FirmwareSchema of a host lists the available names."""
    components: dict[Label, FirmwareComponent] = Field(default_factory=dict)
    """Firmware by component: ``bios``, ``bmc``, ``nic``, ``gpu``. Components with a URL are updated in this order."""

    @property
    def updates(self) -> dict[str, str]:
        """Return the URL of each component that is updated."""
        return {name: component.url for name, component in self.components.items() if component.url}

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield URLs that have no effect, and settings that Metal3 rejects."""
        for name, url in self.updates.items():
            if name not in UPDATED:
                text = f"only {' and '.join(UPDATED)} can be updated; remove it, the version is compared anyway"
                yield ConstraintViolation(text, ("components", name, "url"), url)
        for name in self.bios:
            if _NEVER_SET in name:
                yield ConstraintViolation("Metal3 does not set passwords; remove it", ("bios", name))


class FirmwareBaseline(Firmware):
    """Baseline of the catalogue with its supported instance types."""

    instance_types: tuple[Label, ...] = Field(min_length=1)
    """Instance types that the baseline applies to. The names of settings differ between boards."""

    @property
    def content(self) -> Firmware:
        """Return the settings and versions without the catalogue data."""
        return Firmware(name=self.name, bios=self.bios, components=self.components)


class FirmwareCatalog(DataFile):
    """``catalog/firmware.yaml``, an optional file."""

    firmware_baselines: tuple[FirmwareBaseline, ...] = ()
    """Baselines that golden images may reference."""
