"""What of a version vector comes by manifests: in each cluster that wants it, and nowhere else."""

from __future__ import annotations

from collections import Counter

import pytest
from environment_data import ENVIRONMENTS
from manifest_pins import OPERATORS, by_manifests

from components.plan.build.manifests import everything
from components.plan.checks import check
from components.specs.environment import Environment
from components.specs.loader import environments, load_environment

PROVIDERS = "cluster-api-providers"


def flux_objects(environment: Environment) -> Counter[tuple[str, str]]:
    """Count the releases and Kustomizations that bring each chart or artefact, without those of Cluster API."""
    found: Counter[tuple[str, str]] = Counter()
    for item in everything(environment):
        spec = item.body.get("spec", {})
        source = spec.get("chartRef") or spec.get("sourceRef") or {}
        if item.kind in ("HelmRelease", "Kustomization") and source["name"] != PROVIDERS:
            found[item.kind, source["name"]] += 1
    return found


@pytest.mark.parametrize("name", environments(ENVIRONMENTS))
def test_manifests_bring_an_operator_wherever_its_chart_did(name: str) -> None:
    environment = load_environment(name, ENVIRONMENTS)
    charts, manifests = flux_objects(environment), flux_objects(by_manifests(environment))

    moved = {chart: count for (_, chart), count in charts.items() if chart in OPERATORS}
    assert moved
    assert {name: count for (kind, name), count in manifests.items() if kind == "Kustomization"} == moved
    assert charts.total() == manifests.total()


@pytest.mark.parametrize("name", environments(ENVIRONMENTS))
def test_while_an_operator_is_handed_over_it_has_both(name: str) -> None:
    environment = load_environment(name, ENVIRONMENTS)
    charts, both = flux_objects(environment), flux_objects(by_manifests(environment, handed_over=True))

    assert both - flux_objects(by_manifests(environment)) == Counter(
        {key: count for key, count in charts.items() if key[1] in OPERATORS}
    )


@pytest.mark.parametrize("handed_over", [False, True])
def test_neither_form_is_refused(*, handed_over: bool) -> None:
    check(by_manifests(load_environment("laptop", ENVIRONMENTS), handed_over=handed_over))
