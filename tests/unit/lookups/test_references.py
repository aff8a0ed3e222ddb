"""The table of references and the walk that reads it cover all references of objects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.references.table import FOLDER, read_table, references_table
from components.lookups.references.walk import MissingTarget, Target, kind_of, matching, missing_targets
from components.lookups.slices import slices
from components.render.manifest import MANAGEMENT, Manifest, objects
from components.render.objects import manifest
from components.specs.control_planes.api_server import ApiServerSpec, OidcSpec
from components.specs.control_planes.data_stores import RestoreStep
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.instance_types import PortUse, RdmaSpec
from components.specs.network.tenant_network import Isolation
from components.specs.reading.problems import SpecError
from components.specs.region.region import ControlPlaneBackend
from tests.support.data.complete_pools import with_complete_pools
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.data.external_store import MADE, with_store
from tests.support.data.manifest_pins import by_charts, cluster_api_by_tag
from tests.support.data.second_backends import with_backends
from tests.support.data.small_region import changed
from tests.support.network.on_infiniband import on_infiniband
from tests.support.network.on_roce import sharing_roce
from tests.support.objects.reference_like_fields import Published
from tests.support.storage.restored_store import restored
from tests.support.workloads.slurm_clusters import with_slurm

TABLE = references_table()
API_SERVER = ApiServerSpec.model_validate(
    {
        "authentication_webhook": {"secret": "who"},
        "authorization_webhook": {"secret": "may"},
        "audit": {"policy": "audit-policy", "webhook_secret": "audit-sink"},
    }
)
OIDC = OidcSpec.model_validate(
    {
        "issuer_url": "https://login.acme.example",
        "client_id": "acme",
        "ca_secret": "login-ca",
        "groups_claim": "groups",
        "admin_group": "acme-admins",
    }
)


def rendered(environment: Environment) -> tuple[Manifest, ...]:
    return tuple(item for part in slices(environment) for item in objects(manifests(environment, part)))


@cache
def laptop() -> Environment:
    return reference("laptop")


def with_every_file(environment: Environment) -> Environment:
    """Return ``environment`` with API servers that use all possible Secrets and ConfigMaps."""

    def reported(cluster: ClusterSpec) -> ClusterSpec:
        return changed(cluster, api_server=API_SERVER, oidc=OIDC, cni_seed="first-network")

    tenants = (changed(one, clusters=tuple(map(reported, one.clusters))) for one in environment.tenants)
    named = changed(environment.region.control_planes, domain="clusters.cloud.example")
    return changed(environment, tenants=tuple(tenants), region=changed(environment.region, control_planes=named))


def by_default(environment: Environment) -> Environment:
    """Return ``environment`` with the default images of controllers."""
    planes = changed(environment.region.control_planes, registry=None)
    versions = changed(environment.versions, ironic=None)
    return changed(environment, versions=versions, region=changed(environment.region, control_planes=planes))


def of_choices() -> Iterator[tuple[str, Environment]]:
    """Yield each environment, and the laptop with each choice of backends."""
    for name in REFERENCES:
        yield name, reference(name)
    yield "fullest pools", with_complete_pools(laptop())
    yield "fullest pools by k0s", with_complete_pools(with_backends(laptop()))
    for use in (PortUse.WHOLE, PortUse.SHARED):
        yield f"{use} ports", on_infiniband(laptop(), RdmaSpec(ports=use))
    yield "shared ports on RoCE", sharing_roce()
    yield "a data store that is restored", restored(RestoreStep.STOP)
    yield "Slurm with a database server", with_slurm(laptop())
    yield "secrets from a store", with_store(with_every_file(laptop()))
    yield "secrets from a store that is made", with_store(with_every_file(laptop()), MADE)
    for choice in product(ControlPlaneBackend, BareMetalBackend, Isolation, ("dedicated", "shared-a")):
        planes, metal, isolation, store = choice
        chosen = with_backends(laptop(), control_planes=planes, bare_metal=metal, isolation=isolation, data_store=store)
        yield " ".join(choice), with_every_file(chosen)
        if isolation is Isolation.KUBE_OVN and store == "dedicated":
            yield f"{planes} {metal} from upstream", cluster_api_by_tag(by_default(chosen), registry=None)
            yield f"{planes} {metal} by tag", cluster_api_by_tag(chosen)
            yield f"{planes} {metal} by charts", by_charts(chosen)
            yield f"{planes} {metal} handed over", by_charts(chosen, handed_over=True)


CHOICES = dict(of_choices())


@pytest.fixture(scope="module", params=CHOICES)
def chosen(request: pytest.FixtureRequest) -> tuple[Manifest, ...]:
    """All objects of one of ``CHOICES``, rendered once for the tests that walk them."""
    return rendered(CHOICES[request.param])


def test_references_to_external_objects_have_a_form(chosen: tuple[Manifest, ...]) -> None:
    found = missing_targets(chosen, TABLE)

    assert [f"{one.first} refers to {one.target.kind} {one.target}" for one in found.values() if one.form is None] == []


def test_every_field_that_looks_like_a_reference_is_in_the_table(chosen: tuple[Manifest, ...]) -> None:
    published = Published()

    assert {f"{item.kind} {path}" for item in distinct(chosen) for path in published.uncovered(item)} == set()


def distinct(items: tuple[Manifest, ...]) -> Iterator[Manifest]:
    """Yield all objects of rare kinds, and some of each frequent kind."""
    count: dict[str, int] = {}
    for item in items:
        count[item.kind] = count.get(item.kind, 0) + 1
        if count[item.kind] <= 300:
            yield item


@cache
def everything() -> tuple[Manifest, ...]:
    return tuple(item for one in CHOICES.values() for item in distinct(rendered(one)))


def test_every_row_is_of_something_that_is_rendered() -> None:
    sections = {"refers": TABLE.refers, "makes": TABLE.makes}
    used = {
        (section, kind_of(item), row.to, row.fields)
        for section, kinds in sections.items()
        for item in everything()
        for row in kinds.get(kind_of(item), ())
        if any(matching(item, row))
    }
    rows = {
        (section, kind, row.to, row.fields)
        for section, kinds in sections.items()
        for kind, those in kinds.items()
        for row in those
    }

    assert rows - used == set()


def test_every_form_belongs_to_a_row_and_describes_creation_without_a_value() -> None:
    named = {row.form for rows in TABLE.refers.values() for row in rows} - {None}

    assert named == TABLE.forms.keys()
    assert [name for name, form in TABLE.forms.items() if "--from-literal" in form.make] == []


def test_a_reference_without_a_row_is_detected() -> None:
    [release] = [item for item in everything() if item.kind == "HelmRelease" and item.name == "cert-manager"][:1]
    body = {**release.body, "spec": {**release.body["spec"], "serviceAccountName": "hidden"}}

    assert [*Published().uncovered(release)] == []
    assert [*Published().uncovered(Manifest(body=body))] == ["spec.serviceAccountName"]


CLUSTER = manifest("cluster.x-k8s.io/v1beta2", "Cluster", "acme-train", namespace="acme-train")
SPACE = manifest("v1", "Namespace", "acme-train")


def release(chart: str, **values: Any) -> Manifest:
    """Return a release in the tenant's cluster."""
    spec = {
        "chartRef": {"kind": "OCIRepository", "name": chart, "namespace": "operators"},
        "kubeConfig": {"secretRef": {"name": "acme-train-kubeconfig"}},
        "targetNamespace": chart,
        "storageNamespace": "helm",
        "values": values,
    }
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", chart, namespace="acme-train", spec=spec)


def found(*items: Manifest, others: tuple[Manifest, ...] = ()) -> dict[str, MissingTarget]:
    return {
        f"{one.target.cluster} {one.target.kind} {one.target}": one
        for one in missing_targets(items, TABLE, others).values()
    }


def test_references_into_another_cluster_are_resolved_there() -> None:
    assert found(release("vast-csi")).keys() == {
        "management Namespace acme-train",
        "management Secret acme-train/acme-train-kubeconfig",
        "management source.toolkit.fluxcd.io/OCIRepository operators/vast-csi",
        "acme-train Namespace helm",
        "acme-train Namespace vast-csi",
        " software Flux",
    }


def test_rendered_objects_and_those_of_controllers_are_no_prerequisites() -> None:
    there = found(release("topolvm"), SPACE, CLUSTER)

    assert "management Namespace acme-train" not in there
    assert "management Secret acme-train/acme-train-kubeconfig" not in there
    assert found(release("topolvm"), others=(SPACE, CLUSTER)).keys() == there.keys()


def test_referring_objects_are_counted_and_keys_are_merged() -> None:
    [store] = [item for item in rendered(reference("lab")) if item.kind == "DataStore"]
    [secret] = [one for one in missing_targets([store], TABLE).values() if one.target.kind == "Secret"]

    assert secret.target == Target("Secret", MANAGEMENT, "kamaji-system", "etcd-certs")
    assert (secret.keys, secret.needed_by, secret.first) == (
        {"ca.crt", "ca.key", "tls.crt", "tls.key"},
        {"DataStore": 4},
        "DataStore shared",
    )


def test_node_labels_for_dpu_controllers_are_only_required_with_dpf() -> None:
    """DPF's controllers only run on nodes with one label, and its chart's value affects only the operator."""
    asked, needed = set(), set()
    for name in REFERENCES:
        items = rendered(reference(name))
        if any(item.kind == "DPFOperatorConfig" for item in items):
            needed.add(name)
        if Target("software", "", "", "node-role.kubernetes.io/control-plane") in missing_targets(items, TABLE):
            asked.add(name)

    assert asked == needed
    assert set() < needed < set(REFERENCES)


def test_files_of_api_servers_have_the_keys_that_flags_name() -> None:
    chosen = with_every_file(laptop())
    files = {"login-authority", "webhook-kubeconfig", "audit-policy"}
    keys = {
        str(one.target): one.keys
        for one in missing_targets(rendered(chosen), TABLE).values()
        if one.target.namespace == "acme-train" and one.form in files
    }

    assert keys == {
        "acme-train/login-ca": {"ca.crt"},
        "acme-train/who": {"kubeconfig"},
        "acme-train/may": {"kubeconfig"},
        "acme-train/audit-sink": {"kubeconfig"},
        "acme-train/audit-policy": {"policy.yaml"},
    }


def test_a_table_with_unlisted_forms_or_sources_is_rejected(tmp_path: Path) -> None:
    row = "{to: Secret, form: nowhere, source: 'NOBODY:file'}"
    (tmp_path / "secrets.yaml").write_text(f"schema_version: 1\nrefers:\n  ConfigMap:\n    - {row}\n")

    with pytest.raises(SpecError) as refused:
        read_table(tmp_path)

    assert [problem.text for problem in refused.value.problems] == [
        "names form nowhere, which no file has; add it",
        "names source NOBODY, which no file lists; add it to sources",
    ]
    assert read_table(FOLDER) == TABLE
