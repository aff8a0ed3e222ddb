"""Rollouts of the laptop's DPUs: data that differ from the pins, and evidence of finished rollouts."""

from __future__ import annotations

import json
from typing import Any

from components.intents.dpus import ordered_dpus
from components.render.network.dpu_templates import newest, templates
from components.specs.environment import Environment
from components.specs.keys import DPUS
from components.specs.locks import ImagesLock
from components.specs.pools.intents import DpuIntent
from components.specs.reading.lock_text import sealed
from components.specs.region.evidence import Evidence, read_evidence
from tests.support.data.small_region import changed

INTENT = DpuIntent(
    revision=newest(),
    image="bfb-1",
    url="https://images.example/bfb-1.bfb",
    sha256="0" * 64,
    bsp="1",
    doca="1",
    uefi="1",
    atf="1",
    virtual_functions=24,
    mtu_bytes=8000,
    uplink_mtu_bytes=8100,
)
"""Intent of DPUs with the newest revision."""
OTHER_IMAGE = (
    '  - {version: bfb-3.2.7, url: "https://images.cloud.example/bfb-3.2.7.bfb", bsp: 4.13.1.13760, doca: 3.2.7,'
    f" uefi: 4.13.1-26-g337fea6bfd, atf: 4.13.1-12-g5b3a2e5d1, sha256: {'ab' * 32}}}\n"
)
"""Row of the catalogue with an image that no DPU runs yet."""
FREE, SMALL, LARGE = "dpus/unassigned", "dpus/globex", "dpus/acme"
DATA = {
    "virtual_functions": (
        ("../catalog/instance_types.yaml", "virtual_functions: 16", "virtual_functions: 32"),
        "virtual_functions is 16, data has 32 (../catalog/instance_types.yaml:<instance_types.h100-ib-8.dpu>)",
    ),
    "url": (
        ("../catalog/images.yaml", "cloud.example/bfb-3.2.0.bfb", "moved.example/bfb-3.2.0.bfb"),
        (
            "url is https://images.cloud.example/bfb-3.2.0.bfb, data has https://images.moved.example/bfb-3.2.0.bfb"
            " (../catalog/images.yaml:<dpu_images.bfb-3.2.0>)"
        ),
    ),
    "mtu_bytes": (
        ("region.yaml", "management_api: 10.0.0.10", "management_api: 10.0.0.10\n  mtu_bytes: 8000"),
        "mtu_bytes is 9000, data has 8000 (region.yaml:<dpus.mtu_bytes>)",
    ),
    "mirror": (
        ("region.yaml", "mirror: registry.laptop", "mirror: elsewhere.laptop"),
        (
            "mirror is registry.laptop.cloud.example/v2/nvcr.io,"
            " data has elsewhere.laptop.cloud.example/v2/nvcr.io (region.yaml:<registry.mirror>)"
        ),
    ),
}
"""By field of an intent: an edit of the data, and the resulting report with markers (``places.py``)."""


def outdated(laptop: Any, *fields: str) -> Environment:
    """Return the laptop with data that differ from the pins of its DPUs."""
    for field in fields or ("virtual_functions",):
        laptop.edit(*DATA[field][0])
    loaded: Environment = laptop.load()
    return loaded


def at(environment: Environment, pins: ImagesLock) -> Environment:
    return changed(environment, image_pins=sealed(pins))


def seen(environment: Environment, deployment: str, region: str = "laptop", **changes: Any) -> Evidence:
    """Return evidence of ``region`` that the DPUs of ``deployment`` match their pins, except for ``changes``."""
    pins, total = environment.image_pins, ordered_dpus(environment)[f"{DPUS}/{deployment}"]
    made = templates(pins.dpu_intents[pins.dpus[f"{DPUS}/{deployment}"]])
    entry = {
        "deployment": deployment,
        "total": total,
        "images": {made.bfb_name: total},
        "flavors": {made.flavor_name: total},
        "settled": True,
        "why": [],
    }
    body = {
        "environment": region,
        "observed_at": "2026-11-21T09:00:00Z",
        "pools": [],
        "dpu_deployments": [entry | changes],
    }
    return read_evidence("evidence.json", json.dumps(body).encode())
