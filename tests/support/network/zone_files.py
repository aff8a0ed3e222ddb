"""Zone files of a region's name server."""

from __future__ import annotations

from pathlib import Path

import dns.zone

from jacquard.lab.rehearsal.operators.network.name_server import ZONES


def addresses_of(region: Path, zone: str) -> dict[str, list[str]]:
    """Return the addresses of each name below ``zone``, relative to it, from a region's folder."""
    path = region / ZONES / zone
    if not path.exists():
        return {}
    found = dns.zone.from_text(path.read_text(), zone, relativize=False)
    return {
        name.to_text(omit_final_dot=True).removesuffix(f".{zone}"): sorted(map(str, one))
        for name, one in found.iterate_rdatasets("A")
    }
