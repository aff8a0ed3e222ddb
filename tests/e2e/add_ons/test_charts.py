"""Charts rendered by the real helm with exactly our values, and validated by a strict real API server.

This covers the charts in Go modules (``toolchain/modules/charts``); for other charts only the paths of values are
compared. ``docs/add-ons/charts.md`` lists which is which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from components.render.add_ons.node_agents import NODE_AGENTS
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal import crds
from jacquard.machine import paths
from jacquard.providers.kube import ApiError
from tests.support.add_ons.chart_values import chart_of, releases, values_of
from tests.support.add_ons.helm_charts import CHARTS, Helm
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.published_crds import CrdFolder

pytestmark = pytest.mark.e2e

Object = dict[str, Any]
ON_EVERY_NODE = {"topolvm", "metallb"}
"""Charts whose agents must run on every node of tenants: without them a pod gets no volume, or a node announces no
address.
"""
TENANTS = "tenants"
"""Namespaces of releases on nodes with taints of their pools."""


class Rendered:
    """Objects of every release of a chart, and an API server with their kinds."""

    def __init__(self, helm: Helm, server: LocalApiServer) -> None:
        self._server = server
        self._helm = helm
        kinds = [one for one in self.objects() if one["kind"] == "CustomResourceDefinition"]
        monitors = [CrdFolder().definition("monitoring.coreos.com", kind) for kind in ("ServiceMonitor", "PodMonitor")]
        named = {one["metadata"]["name"]: one for one in (*map(dict, monitors), *kinds)}
        crds.install(server.api, [crds.prepared(one) for one in named.values()])
        for name in {one["metadata"].get("namespace") or "default" for one in self.objects()} - {
            "default",
            "kube-system",
        }:
            server.namespace(name)

    @cached_property
    def by_release(self) -> dict[str, list[Object]]:
        """Return the objects of each distinct release, and of unused charts with their defaults."""
        found: dict[str, list[Object]] = {}
        for item in releases():
            chart, spec = chart_of(item), item.body["spec"]
            if chart in CHARTS:
                place = f"{chart} {len(found)} {TENANTS if 'kubeConfig' in spec else 'management'}"
                found[place] = self._helm.template(chart, spec["releaseName"], spec["targetNamespace"], values_of(item))
        for chart in CHARTS.keys() - {place.split()[0] for place in found}:
            found[f"{chart} as it comes"] = self._helm.template(chart, chart, chart, {})
        return found

    def objects(self) -> Iterator[Object]:
        """Yield every object."""
        for items in self.by_release.values():
            yield from items

    def refusal(self, body: Object) -> str | None:
        """Return the API server's error for an object; empty if accepted."""
        try:
            # Forced, as in Flux, since the kinds already exist.
            self._server.api.apply(body, field_manager="helm-controller", dry_run=True, force=True)
        except ApiError as error:
            return str(error)
        return None


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rendered]:
    newest = load_environment("laptop", ENVIRONMENTS).versions.kubernetes[-1]
    helm = Helm(tmp_path_factory.mktemp("helm"), newest)  # Skips the module before anything is started.
    server = LocalApiServer(tmp_path_factory.mktemp("charts") / "server", kinds=())
    try:
        yield Rendered(helm, server)
    finally:
        server.stop()


def pods(items: list[Object]) -> Iterator[tuple[Object, Object]]:
    """Yield objects that create pods, with the pod's spec."""
    for one in items:
        template = one.get("spec", {}).get("template") or one.get("spec", {}).get("jobTemplate", {}).get(
            "spec", {}
        ).get("template")
        if one["kind"] in {"Deployment", "DaemonSet", "StatefulSet", "Job", "CronJob"} and template:
            yield one, template


def test_every_object_of_every_chart_is_accepted(rendered: Rendered) -> None:
    refused = {
        f"{place}: {one['kind']} {one['metadata']['name']}: {text}"
        for place, items in rendered.by_release.items()
        for one in items
        if (text := rendered.refusal(one)) is not None
    }

    assert refused == set()
    assert {place.split()[0] for place in rendered.by_release} == CHARTS.keys()


def test_a_misspelt_field_of_a_chart_would_be_refused(rendered: Rendered) -> None:
    deployment = next(one for one in rendered.objects() if one["kind"] == "Deployment")

    assert ".spec.loom: field not declared in schema" in (
        rendered.refusal({**deployment, "spec": {**deployment["spec"], "loom": 1}}) or ""
    )


def test_selectors_match_created_pods(rendered: Rendered) -> None:
    missed = [
        f"{place}: {one['kind']} {one['metadata']['name']}"
        for place, items in rendered.by_release.items()
        for one, template in pods(items)
        if not (
            one["spec"].get("selector", {}).get("matchLabels", {}).items()
            <= template["metadata"].get("labels", {}).items()
        )
    ]

    assert missed == []


def test_required_node_agents_tolerate_taints_of_tenants(rendered: Rendered) -> None:
    intolerant = {
        f"{place}: {one['metadata']['name']}"
        for place, items in rendered.by_release.items()
        for one, template in pods(items)
        if place.split()[0] in ON_EVERY_NODE and place.endswith(TENANTS) and one["kind"] == "DaemonSet"
        if {"operator": "Exists"} not in template["spec"].get("tolerations", [])
    }

    assert intolerant == set()


def test_each_kind_is_installed_by_one_chart(rendered: Rendered) -> None:
    owners: dict[str, set[str]] = {}
    for place, items in rendered.by_release.items():
        for one in items:
            if one["kind"] == "CustomResourceDefinition":
                owners.setdefault(one["metadata"]["name"], set()).add(place.split()[0])

    assert {name: charts for name, charts in owners.items() if len(charts) > 1} == {}
    assert "certificates.cert-manager.io" in owners


def test_flux_and_controllers_write_different_fields(rendered: Rendered) -> None:
    """A certificate for which a chart renders a placeholder drifts as soon as its controller writes the real one."""
    filled = {
        f"{place}: {one['kind']} {one['metadata']['name']}"
        for place, items in rendered.by_release.items()
        for one in items
        if any(hook["clientConfig"].get("caBundle") for hook in one.get("webhooks", ()))
    }

    assert filled == set()


def test_the_page_says_which_add_ons_are_real_in_the_local_region(tmp_path: Path) -> None:
    environment = load_environment("laptop", ENVIRONMENTS)
    helm = Helm(tmp_path, environment.versions.kubernetes[-1])
    pinned = {chart.name: chart.version for chart in environment.versions.charts}
    real = sorted({one.chart for one in environment.add_ons.add_ons if helm.has(one.chart, pinned[one.chart])})
    page = (paths.ROOT / "docs/add-ons/charts.md").read_text(encoding="utf-8")

    [listed] = re.findall(r"^Add-ons of the charts (.*) are real", page, re.MULTILINE)
    assert listed == " and ".join([", ".join(real[:-1]), real[-1]])


def test_an_impact_names_exactly_the_charts_with_node_agents(rendered: Rendered) -> None:
    with_agents = {
        place.split()[0]
        for place, items in rendered.by_release.items()
        if any(one["kind"] == "DaemonSet" for one in items)
    }

    assert with_agents == set(CHARTS) & NODE_AGENTS.keys()


def test_every_image_has_a_version(rendered: Rendered) -> None:
    loose = {
        f"{place}: {container['image']}"
        for place, items in rendered.by_release.items()
        for _, template in pods(items)
        for container in (*template["spec"].get("initContainers", ()), *template["spec"]["containers"])
        if ":" not in container["image"].rpartition("/")[2] or container["image"].endswith((":latest", ":main"))
    }

    assert loose == set()
