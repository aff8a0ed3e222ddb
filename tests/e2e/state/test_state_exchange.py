"""Provider migration of a region between the vendor's kubernetes provider and ours, at a real API server.

Every object is created with the state that the previous provider records; the test checks the next operation of the
other provider in the API server and in its state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from jacquard.lab.rehearsal import crds
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.rpc.diff import changes
from jacquard.providers.rpc.paths import render
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.engine import recorded_states
from tests.support.engine.driven_standin import DrivenStandIn
from tests.support.engine.recorded_states import Recorded
from tests.support.engine.vendor_diff import vendor_diff

pytestmark = pytest.mark.e2e

VENDOR = "pulumi-kubernetes"
OURS = [("jacquard", "Apply")]
SERVERS_OWN = ("creationTimestamp", "generation", "resourceVersion", "uid")
BUILT_IN = ("v1", "apps/v1", "rbac.authorization.k8s.io/v1", "scheduling.k8s.io/v1", "storage.k8s.io/v1")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    kinds = {item.inputs["kind"] for item in recorded_states.older()}
    running = LocalApiServer(tmp_path_factory.mktemp("exchange") / "server", kinds=kinds)
    try:
        # One server represents the management cluster and those of tenants.
        tenants = [crd for crd in crds.definitions("a tenant's") if crd["spec"]["names"]["kind"] in kinds]
        crds.install(running.api, tenants)
        yield running
    finally:
        running.stop()


def managers(obj: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(entry["manager"], entry["operation"]) for entry in obj["metadata"]["managedFields"]]


def live(api: ApiServer, body: Mapping[str, Any]) -> dict[str, Any]:
    found = api.get(ObjectRef.of(body))
    assert found is not None
    return found


def with_label(body: dict[str, Any]) -> dict[str, Any]:
    metadata = body["metadata"]
    return {**body, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), "jacquard.dev/new": "label"}}}


def unawaited(item: Recorded) -> dict[str, Any]:
    """Return the inputs without conditions to await, since no controller runs."""
    metadata = item.inputs["metadata"]
    annotations = {**metadata["annotations"], "pulumi.com/skipAwait": "true"}
    return {**item.inputs, "metadata": {**metadata, "annotations": annotations}}


def settled(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return outputs without values that are unique to an object or set by controllers."""
    metadata = {key: value for key, value in outputs["metadata"].items() if key not in (*SERVERS_OWN, "managedFields")}
    metadata["annotations"] = {
        key: value
        for key, value in metadata.get("annotations", {}).items()
        # Our provider marks objects that it created under a shared field manager; the vendor's program skips no wait.
        if key not in ("jacquard.dev/made-by", "pulumi.com/skipAwait")
    }
    return {key: value for key, value in outputs.items() if key != "status"} | {"metadata": metadata}


def of_a_kind(items: list[Recorded]) -> list[Recorded]:
    """Return one object of each kind."""
    return list({item.inputs["kind"]: item for item in items}.values())


def test_our_provider_records_the_same_state_as_the_vendors(server: LocalApiServer, standin: DrivenStandIn) -> None:
    allowed = {
        'metadata.labels["kubernetes.io/metadata.name"]': "is the name, another one here",
        'metadata.labels["cluster.x-k8s.io/cluster-name"]': "is set by Cluster API, which is not at work here",
        "metadata.ownerReferences": "are set by Cluster API",
    }
    differ: dict[str, list[str]] = {}
    for item in recorded_states.of_vendor("laptop-created"):
        inputs = _placed(server, unawaited(item), "made-here")
        kept = standin.create(item.urn, standin.check(item.urn, inputs))
        theirs = _placed(server, settled(item.outputs), "made-here")
        paths = {render(change.path) for change in changes(_inputs_placed(theirs), _inputs_placed(settled(kept)))}
        if item.inputs["apiVersion"] not in BUILT_IN:
            # Webhooks and published schemas add defaults to custom kinds; the bare API server has neither.
            paths = {path for path in paths if not path.startswith("spec")}
        differ |= {str(item): sorted(paths - allowed.keys())} if paths - allowed.keys() else {}

    assert differ == {}


def test_objects_of_the_vendors_provider_are_refreshed_and_changed(
    server: LocalApiServer, standin: DrivenStandIn
) -> None:
    wrong: dict[str, Any] = {}
    for item in recorded_states.of_vendor("laptop-created"):
        inputs = standin.check(item.urn, _placed(server, unawaited(item), "made-there"))
        made = server.api.create(inputs, field_manager=VENDOR)
        assert managers(made) == [(VENDOR, "Update")]
        state = {**made, "__inputs": inputs, "__initialApiVersion": inputs["apiVersion"], "__fieldManager": "jacquard"}

        refreshed, kept = standin.read(item.urn, inputs, state)
        nothing = (standin.diff(item.urn, refreshed, kept, inputs), vendor_diff(kept, inputs))
        changed = with_label(_without_a_field(inputs))
        promised = standin.update(item.urn, inputs, state, changed, preview=True)
        after = standin.update(item.urn, inputs, state, changed)
        found = live(server.api, changed)
        wrong[str(item)] = (
            *nothing,
            vendor_diff(after, changed),
            managers(found) == OURS,
            found["metadata"]["uid"] == made["metadata"]["uid"],
            "app.kubernetes.io/managed-by" in found["metadata"]["labels"],
            _differences(settled(promised), settled(after)),
        )

    expected = ({}, {}, {}, True, True, False, [])
    assert {name: seen for name, seen in wrong.items() if seen != expected} == {}


def test_an_older_state_is_accepted_and_upgraded(server: LocalApiServer, standin: DrivenStandIn) -> None:
    wrong: dict[str, Any] = {}
    for item in of_a_kind(recorded_states.older()):
        given = _placed(server, unawaited(item), "older")
        made = server.api.apply(given, field_manager="jacquard")
        state = {**made, "__fieldManager": "jacquard"}
        inputs = standin.check(item.urn, given, given)

        refreshed, kept = standin.read(item.urn, given, state)
        changed = with_label(inputs)
        after = standin.update(item.urn, given, state, changed)
        wrong[str(item)] = (
            standin.diff(item.urn, given, state, inputs),
            standin.diff(item.urn, refreshed, kept, inputs),
            vendor_diff(kept, inputs),
            standin.diff(item.urn, given, state, changed),
            vendor_diff(after, changed),
            live(server.api, changed)["metadata"]["uid"] == made["metadata"]["uid"],
        )

    label = {'metadata.labels["jacquard.dev/new"]': "add"}
    assert len(wrong) > 40
    assert {name: seen for name, seen in wrong.items() if seen != ({}, {}, {}, label, {}, True)} == {}


URN = "urn:pulumi:dev::toy::kubernetes:core/v1:{}::r"


def service(place: str, *ports: int, **labels: str) -> dict[str, Any]:
    named = [{"name": f"p{port}", "port": port} for port in ports]
    metadata = {"name": "shuttle", "namespace": place, **({"labels": labels} if labels else {})}
    spec = {"clusterIP": "None", "ports": named}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def test_the_first_change_of_a_services_ports_is_previewed_and_applied(
    server: LocalApiServer, standin: DrivenStandIn, place: str
) -> None:
    old, new = service(place, 80, 81), {**service(place, 80)}
    new["spec"]["ports"] = [{"port": 8080}]
    urn = URN.format("Service")
    made = server.api.create(old, field_manager=VENDOR)
    server.api.patch(ObjectRef.of(old), {"metadata": {"labels": {"of": "kubectl"}}}, field_manager="kubectl-label")

    promised = standin.update(urn, old, made, new, preview=True)
    untouched = live(server.api, old)
    standin.update(urn, old, made, new)

    ports = live(server.api, new)["spec"]["ports"]
    assert [port["port"] for port in ports] == [8080]
    assert promised["spec"]["ports"] == ports
    assert [port["port"] for port in untouched["spec"]["ports"]] == [80, 81]
    # A manually added label is kept; the vendor's provider removes it.
    assert live(server.api, new)["metadata"]["labels"] == {"of": "kubectl"}


def config_map(place: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "weft", "namespace": place}, "data": data}


def test_drift_by_kubectl_is_restored(server: LocalApiServer, standin: DrivenStandIn, place: str) -> None:
    urn, inputs = URN.format("ConfigMap"), config_map(place, a="1", k="v")
    state = standin.create(urn, inputs)
    drift = {"data": {"a": "9", "k": None, "foreign": "z"}}
    server.api.patch(ObjectRef.of(inputs), drift, field_manager="kubectl-patch")

    drifted, read = standin.read(urn, inputs, state)
    assert standin.diff(urn, drifted, read, inputs) == {"data.a": "update", "data.k": "add"}
    promised = standin.update(urn, drifted, read, inputs, preview=True)
    after = standin.update(urn, drifted, read, inputs)

    assert promised["data"] == after["data"] == {"a": "1", "k": "v", "foreign": "z"}
    assert standin.diff(urn, inputs, after, inputs) == vendor_diff(after, inputs) == {}


def test_an_imported_object_is_changed_and_loses_removed_fields(
    server: LocalApiServer, standin: DrivenStandIn, place: str
) -> None:
    urn, there = URN.format("ConfigMap"), config_map(place, theirs="1", kept="1")
    server.api.create(there, field_manager="kubectl-create")
    imported, state = standin.read(urn, {}, {"metadata": there["metadata"]})
    assert imported == there

    new = config_map(place, kept="2", own="2")
    promised = standin.update(urn, imported, state, new, preview=True)
    standin.update(urn, imported, state, new)

    assert promised["data"] == live(server.api, new)["data"] == {"kept": "2", "own": "2"}


def test_fields_of_controllers_are_kept(server: LocalApiServer, standin: DrivenStandIn, place: str) -> None:
    urn, inputs = URN.format("ConfigMap"), config_map(place, a="1")
    made = server.api.create(inputs, field_manager=VENDOR)
    server.api.patch(ObjectRef.of(inputs), {"data": {"a": "5"}}, field_manager="some-controller")

    for preview in (True, False):
        with pytest.raises(ProviderError, match=r"belong to another field manager:\n  \.data\.a: .*some-controller"):
            standin.update(urn, inputs, made, config_map(place, a="2"), preview=preview)

    assert live(server.api, inputs)["data"] == {"a": "5"}


def _placed(server: LocalApiServer, body: dict[str, Any], suffix: str) -> dict[str, Any]:
    """Return an object with a name, and in a namespace, of the test; `suffix` tells tests apart."""
    metadata = body["metadata"]
    placed = {"name": f"{metadata['name']}-{suffix}"}
    if "namespace" in metadata:
        placed["namespace"] = server.namespace(suffix)
    return {**body, "metadata": {**metadata, **placed}}


def _inputs_placed(outputs: dict[str, Any]) -> dict[str, Any]:
    """Return outputs with inputs stripped of name, namespace and wait conditions."""
    return {**outputs, "__inputs": settled({**outputs["__inputs"], "metadata": _bare(outputs["__inputs"])})}


def _bare(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body["metadata"].items() if key not in ("name", "namespace")}


def _without_a_field(body: dict[str, Any]) -> dict[str, Any]:
    labels = {key: value for key, value in body["metadata"]["labels"].items() if key != "app.kubernetes.io/managed-by"}
    return {**body, "metadata": {**body["metadata"], "labels": labels}}


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    kept = ("__inputs", "__initialApiVersion")
    return [render(change.path) for change in changes(one, {k: v for k, v in other.items() if k not in kept})]
