"""Hosts of a region. A host holds identity only; whatever else differs is another instance type."""

from __future__ import annotations

from pydantic import Field

from components.specs.base import BMC_ADDRESS, DnsLabel, HostName, IpAddress, Label, MacAddress, Spec, Text


class HostSpec(Spec):
    """One row of ``inventory/hall-<hall>.csv``: who a machine is and where it stands."""

    rack: Label
    """NVLink domain too, where the instance type is of rack scale."""
    slot: int = Field(ge=1, le=60)
    """Place in the rack, from 1."""
    host: HostName
    instance_type: Label
    serial: Text
    """Of the chassis, as the BMC reports it."""
    bmc: str = Field(pattern=BMC_ADDRESS)
    """Address in Metal3's form, with the driver as scheme."""
    bmc_secret: DnsLabel
    """Secret with username and password in the host's namespace: a reference, never a value."""
    boot_mac: MacAddress
    """Of the port it boots from; in quotes."""
    dpu_serial: Text
    """Of the DPU, as DPF finds it."""
    leaf: Label
    """Leaf switch of the host's DPU ports."""
    dpu_bmc: IpAddress | None = None
    """BMC of the DPU; an optional column, an empty cell says none."""

    hall: Label
    """From the file's name, ``inventory/hall-<hall>.csv``; not a column."""
