"""Hosts of a region. A host holds identity only; whatever else differs is another instance type."""

from __future__ import annotations

from pydantic import Field

from components.specs.base import BMC_ADDRESS, DnsLabel, Label, MacAddress, Spec, Text


class HostSpec(Spec):
    """One row of ``inventory/hall-<hall>.csv``: who a machine is and where it stands."""

    rack: Label
    slot: int = Field(ge=1, le=60)
    host: Label
    instance_type: Label
    serial: Text
    bmc: str = Field(pattern=BMC_ADDRESS)
    """Address in Metal3's form, with the driver as scheme."""
    bmc_secret: DnsLabel
    """Secret with username and password in the host's namespace: a reference, never a value."""
    boot_mac: MacAddress
    dpu_serial: Text
    leaf: Label

    hall: Label
    """From the file's name, ``inventory/hall-<hall>.csv``; not a column."""
