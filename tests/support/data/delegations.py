"""Data of two regions whose zones the fleet delegates: laptop in slices as the home, and palmtop beside it."""

from __future__ import annotations

from pathlib import Path

from tests.support.data.environment_data import LAPTOP

OPEN = "{status: open, jurisdictions: [us]}"
DNS = "dns: {zone: cloud.example, home: laptop, server: 192.0.2.53}"
OWN = "[{name: ns1-laptop.cloud.example, address: 198.18.0.53}]"
OTHERS = "[{name: ns.provider.example}]"
ZONE = "dns: {zone: laptop.cloud.example, server: 10.0.0.53}"
"""DNS of laptop in the reference data."""


def fleet_text(root: Path, *, dns: str = DNS, home: str = OPEN, other: str = OPEN) -> None:
    """Write the file of the fleet to the folder of all environments."""
    lines = ["schema_version: 1", "regions:", f"  laptop: {home}", f"  palmtop: {other}", dns, ""]
    (root / "fleet.yaml").write_text("\n".join(lines), encoding="utf-8")


def with_servers(zone: str, servers: str) -> str:
    """Return the DNS of a region with name servers."""
    return f"dns: {{zone: {zone}, server: 10.0.0.53, name_servers: {servers}}}"


def two_regions(root: Path, *, own: str = OWN, others: str = OTHERS, zone: str = "palmtop.cloud.example") -> None:
    """Write the fleet and both regions to the folder of all environments, which has laptop."""
    fleet_text(root)
    text = (LAPTOP / "region.yaml").read_text(encoding="utf-8")
    assert ZONE in text
    (root / "laptop" / "region.yaml").write_text(
        text.replace("stacks: whole", "stacks: sliced").replace(ZONE, with_servers("laptop.cloud.example", own)),
        encoding="utf-8",
    )
    other = text.replace("region: laptop", "region: palmtop", 1).replace(ZONE, with_servers(zone, others))
    (root / "palmtop").mkdir(exist_ok=True)
    (root / "palmtop" / "region.yaml").write_text(other, encoding="utf-8")
