"""Read access to Secrets by the rendered objects, compared with the documented table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from components.inputs.manifests import everything
from components.lookups.references.table import references_table
from components.lookups.references.walk import missing_targets
from components.render.manifest import MANAGEMENT, Manifest
from components.render.objects import manifest
from components.specs.environment import Environment
from tests.support.data.complete_pools import with_complete_pools
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.docs.documents import DOCS, text
from tests.support.objects.secret_access import ALL, Access, secret_access

GROUP = "rbac.authorization.k8s.io"


@cache
def loaded() -> tuple[Environment, ...]:
    """Return all environments, and one whose nodes boot an ISO and therefore require the join service."""
    every = [reference(name) for name in REFERENCES]
    return (*every, with_complete_pools(every[2]))


@cache
def rendered() -> tuple[Manifest, ...]:
    return tuple(item for one in loaded() for item in everything(one))


@cache
def clusters() -> frozenset[str]:
    return frozenset(item.name for item in rendered() if item.kind == "Cluster")


@cache
def stores() -> frozenset[str]:
    return frozenset(store.name for one in loaded() for store in one.region.control_planes.data_stores)


def plain(value: str) -> str:
    """Return ``value`` without the name of its cluster or data store, and without the number of its storage pod."""
    value = re.sub(r"((?:metrics|logs)-backup)-\d+$", r"\1-<pod>", value)
    name = max((one for one in clusters() if one in value), key=len, default="")
    store = next((one for one in stores() if f"{one}-etcd" in value), "")
    if name:
        return value.replace(name, "<cluster>")
    return value.replace(store, "<store>", 1) if store else value


def rows() -> Iterator[str]:
    """Yield the table of the page."""
    yield "| who | cluster | namespace | Secret | how |"
    yield "|---|---|---|---|---|"
    found = {
        (
            _group(one) if one.who.startswith("Group ") else plain(one.who),
            plain(one.cluster),
            "its own" if one.who.startswith("Group ") and one.namespace else plain(one.namespace) or ALL,
            plain(one.secret),
            one.how,
        )
        for one in secret_access(rendered())
    }
    for row in sorted(found):
        yield f"| {' | '.join(row)} |"


def _group(one: Access) -> str:
    return "Group of `edit_group`" if one.namespace else "Group of `oidc.admin_group`"


def test_the_page_shows_read_access_to_secrets() -> None:
    assert "\n".join(rows()) in text(DOCS / "region/isolation.md")


def test_the_page_names_platform_secrets_that_tenant_administrators_can_read() -> None:
    tenants = {item.name.removeprefix("tenant-") for item in rendered() if item.name.startswith("tenant-")}
    inside = {
        f"`{one.target.namespace}/{re.sub('|'.join(sorted(tenants)), '<tenant>', one.target.name)}`"
        for one in missing_targets(rendered(), references_table()).values()
        if one.target.kind == "Secret" and one.target.cluster != MANAGEMENT
    }

    page = text(DOCS / "region/isolation.md")
    assert inside
    assert [name for name in sorted(inside) if name not in page] == []


def test_pods_that_use_no_api_get_no_token() -> None:
    accounts = {
        (item.cluster, subject["namespace"], subject["name"])
        for item in rendered()
        if item.kind.endswith("RoleBinding") or item.kind == "ClusterRoleBinding"
        for subject in item.body["subjects"]
        if subject["kind"] == "ServiceAccount"
    }
    made = [item for item in rendered() if item.kind == "ServiceAccount"]

    assert made
    assert [
        item.key
        for item in made
        if (item.cluster, item.namespace, item.name) not in accounts
        and item.body.get("automountServiceAccountToken") is not False
    ] == []


ROLE = manifest(
    f"{GROUP}/v1",
    "Role",
    "reader",
    namespace="a",
    rules=[
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["watch"]},
        {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"]},
    ],
)


def binding(role: str) -> Manifest:
    return manifest(
        f"{GROUP}/v1",
        "RoleBinding",
        "reader",
        namespace="a",
        roleRef={"apiGroup": GROUP, "kind": "Role", "name": role},
        subjects=[{"kind": "ServiceAccount", "name": "s", "namespace": "b"}],
    )


def test_rules_that_read_secrets_are_found_and_others_are_not() -> None:
    one = {"who": "ServiceAccount s", "cluster": MANAGEMENT, "namespace": "a"}

    assert [*secret_access([ROLE, binding("reader")])] == [
        Access(**one, secret="one", how="get"),
        Access(**one, secret=ALL, how="watch"),
    ]


def test_a_binding_to_an_unknown_role_is_rejected() -> None:
    with pytest.raises(KeyError, match="stranger"):
        list(secret_access([ROLE, binding("stranger")]))


def test_secrets_that_pods_use_are_found() -> None:
    pod = {
        "containers": [
            {
                "env": [{"valueFrom": {"secretKeyRef": {"name": "env", "key": "k"}}}],
                "envFrom": [{"secretRef": {"name": "all"}}],
            }
        ],
        "volumes": [{"secret": {"secretName": "file"}}, {"projected": {"sources": [{"secret": {"name": "part"}}]}}],
    }
    job = manifest(
        "batch/v1", "CronJob", "j", namespace="a", spec={"jobTemplate": {"spec": {"template": {"spec": pod}}}}
    )

    assert [one.secret for one in secret_access([job])] == ["env", "all", "file", "part"]
