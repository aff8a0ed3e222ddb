"""Position in the data of an object that violates a policy."""

from __future__ import annotations

from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from policies.facts import PROVIDER, UNKNOWN, WAIVER, Fact, object_fact
from policies.places import Places

FOLDER = paths.ROOT / "environments"
POOL = {"jacquard.dev/pool": "infer"}
HALL = "inventory/hall-a.csv"
ACME = "tenants/acme.yaml"


@pytest.fixture(scope="module")
def laptop() -> Environment:
    return load_environment("laptop", FOLDER)


def line(file: str, start: str) -> int:
    lines = (FOLDER / "laptop" / file).read_text(encoding="utf-8").splitlines()
    return next(number for number, text in enumerate(lines, 1) if text.strip().startswith(start))


@pytest.mark.parametrize(
    ("kind", "metadata", "file", "start"),
    [
        ("BareMetalHost", {"name": "a02-u03", "namespace": "acme-train", "labels": POOL}, HALL, "a02,3,a02-u03,"),
        ("BareMetalHost", {"name": "unknown", "namespace": "acme-train", "labels": POOL}, ACME, "- name: infer"),
        ("Metal3MachineTemplate", {"name": "x-1", "namespace": "acme-train", "labels": POOL}, ACME, "- name: infer"),
        ("Metal3MachineTemplate", {"name": "x-1", "namespace": "acme-train", "labels": {}}, ACME, "- name: acme-train"),
        ("Cluster", {"name": "acme-train", "namespace": "acme-train"}, ACME, "- name: acme-train"),
        ("Machine", {"name": UNKNOWN, "namespace": "acme-train"}, ACME, "- name: acme-train"),
        ("ConfigMap", {"name": "x", "namespace": "operators"}, "region.yaml", ""),
        ("ConfigMap", UNKNOWN, "region.yaml", ""),
    ],
)  # fmt: skip
def test_an_object_is_at_the_nearest_entry_of_the_data(
    laptop: Environment, kind: str, metadata: Any, file: str, start: str
) -> None:
    fact = object_fact({"kind": kind, "metadata": metadata}, "management")

    assert Places(laptop).of(fact) == (file, line(file, start) if start else 1)


def test_a_waiver_is_at_its_entry_and_a_provider_at_the_region(laptop: Environment) -> None:
    [waiver] = laptop.waivers.waivers
    places = Places(laptop)

    assert places.of(Fact(kind=WAIVER, title="w", body=waiver.model_dump())) == (
        "waivers.yaml",
        line("waivers.yaml", "- rule: networks.unfiltered-hosts"),
    )
    assert places.of(Fact(kind=PROVIDER, title="p", body={"kubeconfig": UNKNOWN})) == ("region.yaml", 1)
