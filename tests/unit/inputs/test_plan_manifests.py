"""Parts of a version vector that are delivered by manifests, in exactly the clusters that require them."""

from __future__ import annotations

from collections import Counter

import pytest

from components.inputs.manifests import everything
from components.render.manifest import MANAGEMENT
from components.render.region.cluster_api import PROVIDERS
from components.rules.checks import check
from components.specs.environment import Environment
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.data.manifest_pins import by_charts


def flux_objects(environment: Environment) -> Counter[tuple[str, str]]:
    """Count the platform's releases and Kustomizations of each chart or artefact, without those of Cluster API."""
    found: Counter[tuple[str, str]] = Counter()
    for item in everything(environment):
        if item.cluster != MANAGEMENT:
            continue
        spec = item.body.get("spec", {})
        source = spec.get("chartRef") or spec.get("sourceRef") or {}
        if item.kind in ("HelmRelease", "Kustomization") and source["name"] != PROVIDERS:
            found[item.kind, source["name"]] += 1
    return found


def of_kind(found: Counter[tuple[str, str]], kind: str, names: set[str]) -> dict[str, int]:
    return {name: count for (of, name), count in found.items() if of == kind and name in names}


@pytest.mark.parametrize("name", REFERENCES)
def test_manifests_bring_an_operator_wherever_its_chart_would(name: str) -> None:
    environment = reference(name)
    manifests, charts = flux_objects(environment), flux_objects(by_charts(environment))
    moved = {name for kind, name in manifests if kind == "Kustomization"}

    assert moved
    assert of_kind(manifests, "Kustomization", moved) == of_kind(charts, "HelmRelease", moved)
    assert {kind for kind, _ in charts} == {"HelmRelease"}
    assert manifests.total() == charts.total()


@pytest.mark.parametrize("name", REFERENCES)
def test_while_an_operator_is_handed_over_it_has_both(name: str) -> None:
    environment = reference(name)
    both = flux_objects(by_charts(environment, handed_over=True))

    assert both == flux_objects(environment) | flux_objects(by_charts(environment))


@pytest.mark.parametrize("handed_over", [False, True])
def test_neither_form_is_refused(*, handed_over: bool) -> None:
    assert check(by_charts(reference("laptop"), handed_over=handed_over)) == []
