"""Backstage entities: valid by the rules of its catalog, complete, and with existing owners and dependencies.

The rules are those of ``@backstage/catalog-model`` 1.10 (src/validation, src/schema/kinds), whose validators accepted
the output for all shipped regions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from components.reports.fleet.backstage import NAMESPACE, OWNER, Backstage, entities
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS

NAME = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
DNS_LABEL = re.compile(r"[a-z0-9]+(?:-+[a-z0-9]+)*")
TAG = re.compile(r"[a-z0-9+#]+(?:-[a-z0-9+#]+)*")
URL = re.compile(r"https://[^\s]+")
REQUIRED = {"System": {"owner"}, "Group": {"type", "children"}, "Resource": {"type", "owner"}}
OPTIONAL = {"System": {"type"}, "Group": {"profile"}, "Resource": {"system", "dependsOn"}}
METADATA = {"name", "namespace", "title", "description", "annotations", "tags", "links"}
NAMES = ("laptop", "lab", "us-east-04a", "eu-south-03a")
Entity = Mapping[str, Any]


@pytest.fixture(scope="module")
def regions() -> list[Environment]:
    return [load_environment(name, ENVIRONMENTS) for name in NAMES]


def reference(entity: Entity) -> str:
    return f"{entity['kind'].lower()}:{entity['metadata']['namespace']}/{entity['metadata']['name']}"


def violations(entity: Entity) -> Iterator[str]:
    """Yield what Backstage's validators would reject."""
    kind, metadata, spec = entity["kind"], entity["metadata"], entity["spec"]
    fits = {
        "fields": [*entity] == ["apiVersion", "kind", "metadata", "spec"],
        "version": entity["apiVersion"] == "backstage.io/v1alpha1",
        "metadata": metadata.keys() <= METADATA,
        "name": len(metadata["name"]) <= 63 and NAME.fullmatch(metadata["name"]),
        "namespace": len(metadata["namespace"]) <= 63 and DNS_LABEL.fullmatch(metadata["namespace"]),
        "tags": all(len(tag) <= 63 and TAG.fullmatch(tag) for tag in metadata.get("tags", [])),
        "links": all(URL.fullmatch(link["url"]) and link["title"] for link in metadata.get("links", [])),
        "spec": REQUIRED[kind] <= spec.keys() <= REQUIRED[kind] | OPTIONAL[kind],
        "texts": all(spec.get(name, "x") for name in ("type", "owner", "system")),
    }
    for key, value in metadata.get("annotations", {}).items():
        prefix, _, name = key.rpartition("/")
        fits[key] = all(map(DNS_LABEL.fullmatch, prefix.split("."))) and NAME.fullmatch(name) and isinstance(value, str)
    yield from (f"{reference(entity)}: {name}" for name, fit in fits.items() if not fit)


def test_all_entities_of_all_regions_are_valid_and_unique(regions: list[Environment]) -> None:
    found = [*entities(regions, Backstage(grafana="https://grafana.example"))]

    assert [text for entity in found for text in violations(entity)] == []
    assert len({*map(reference, found)}) == len(found)


def test_each_concept_has_an_entity(regions: list[Environment]) -> None:
    found = {reference(entity) for entity in entities(regions, Backstage())}

    for region in regions:
        clusters = [(tenant.tenant, cluster) for tenant in region.tenants for cluster in tenant.clusters]
        names = {f"system:{NAMESPACE}/{region.name}", f"resource:{NAMESPACE}/{region.name}.management"}
        names |= {f"group:{NAMESPACE}/{tenant}" for tenant, _ in clusters}
        names |= {f"resource:{NAMESPACE}/{region.name}.{cluster.name}" for _, cluster in clusters}
        names |= {
            f"resource:{NAMESPACE}/{region.name}.{cluster.name}.{pool.name}"
            for _, cluster in clusters
            for pool in cluster.pools
        }
        assert names <= found


def test_owners_systems_and_dependencies_exist(regions: list[Environment]) -> None:
    found = [*entities(regions, Backstage())]
    known = {*map(reference, found), OWNER}

    used = {entity["spec"][key] for entity in found for key in ("owner", "system") if key in entity["spec"]}
    used |= {target for entity in found for target in entity["spec"].get("dependsOn", [])}

    assert used <= known


def test_the_order_of_regions_does_not_matter(regions: list[Environment]) -> None:
    assert [*entities(regions, Backstage())] == [*entities(reversed(regions), Backstage())]


def test_a_cluster_has_owner_dependencies_contacts_and_links(regions: list[Environment]) -> None:
    options = Backstage(grafana="https://grafana.example/")
    found = {reference(entity): entity for entity in entities(regions[:1], options)}

    assert found[f"resource:{NAMESPACE}/laptop.acme-train"] == {
        "apiVersion": "backstage.io/v1alpha1",
        "kind": "Resource",
        "metadata": {
            "name": "laptop.acme-train",
            "namespace": "gpu-cloud",
            "title": "laptop.acme-train",
            "description": "Kubernetes cluster of tenant acme in region laptop",
            "annotations": {
                "jacquard.dev/alerts-contact": "oncall@acme.example",
                "jacquard.dev/changes-contact": regions[0].tenants[0].contacts.changes,
                "jacquard.dev/maintenance-contact": regions[0].tenants[0].contacts.changes,
            },
            "tags": ["rehearsal"],
            "links": [
                {
                    "url": "https://grafana.example/d/jacquard-control-planes?var-cluster=acme-train",
                    "title": "Dashboard of the control plane",
                    "type": "dashboard",
                },
                {
                    "url": "https://jacquard.dev/docs/region/alerts.md",
                    "title": "Runbooks of alerts",
                    "type": "runbook",
                },
            ],
        },
        "spec": {
            "type": "kubernetes-cluster",
            "owner": "group:gpu-cloud/acme",
            "system": "system:gpu-cloud/laptop",
            "dependsOn": [
                "resource:gpu-cloud/laptop.management",
                *(
                    f"resource:gpu-cloud/laptop.acme-train.{pool.name}"
                    for pool in regions[0].tenants[0].clusters[0].pools
                ),
            ],
        },
    }


def test_the_dashboards_of_links_are_shipped(regions: list[Environment]) -> None:
    folder = ENVIRONMENTS.parent / "components/render/region/dashboard_files"
    shipped = {json.loads(file.read_text(encoding="utf-8"))["uid"] for file in folder.glob("*.json")}
    links = [
        link["url"]
        for entity in entities(regions, Backstage(grafana="https://grafana.example"))
        for link in entity["metadata"].get("links", [])
        if link["type"] == "dashboard"
    ]

    used = {url.partition("/d/")[2].partition("?")[0] for url in links}
    assert used == {"jacquard-region", "jacquard-tenant", "jacquard-control-planes", "jacquard-pools"}
    assert used <= shipped


def test_a_tenant_of_several_regions_is_one_group_with_a_common_address_only(regions: list[Environment]) -> None:
    laptop = regions[0]
    acme = laptop.tenants[0]
    other = acme.model_copy(update={"contacts": acme.contacts.model_copy(update={"alerts": "#acme-oncall"})})
    renamed = laptop.region.model_copy(update={"region": "desk"})

    def groups(*tenants: Any) -> list[Any]:
        twin = laptop.model_copy(update={"region": renamed, "name": "desk", "tenants": tenants})
        found = entities([laptop, twin], Backstage())
        return [entity["spec"]["profile"] for entity in found if entity["metadata"]["name"] == "acme"]

    assert groups(acme) == [{"displayName": "acme", "email": "oncall@acme.example"}]
    assert groups(other) == [{"displayName": "acme"}]


def test_long_names_are_shortened_and_stay_unique(regions: list[Environment]) -> None:
    laptop = regions[0]
    name = "a" * 60
    longer = laptop.model_copy(update={"region": laptop.region.model_copy(update={"region": name}), "name": name})

    found = [*entities([longer], Backstage())]

    assert [text for entity in found for text in violations(entity)] == []
    assert len({*map(reference, found)}) == len(found)
