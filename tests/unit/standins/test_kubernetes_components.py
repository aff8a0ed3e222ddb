"""Components of the kubernetes stand-in, with a monitor that records registrations."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from jacquard.lab.standins.kubernetes.objects.gathering import CONFIG_GROUP
from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.stubs import provider_pb2, resource_pb2, resource_pb2_grpc
from jacquard.providers.rpc.values import UNKNOWN, decode, encode

NAMESPACE = "{apiVersion: v1, kind: Namespace, metadata: {name: mill}}"
LOOM = "{apiVersion: toy.dev/v1, kind: Loom, metadata: {name: jacquard, namespace: mill}, spec: {cards: 4}}"


class Monitor(resource_pb2_grpc.ResourceMonitorServicer):
    """Records requests in order; rejects the kinds in ``refused``."""

    def __init__(self) -> None:
        self.asked: list[resource_pb2.RegisterResourceRequest] = []
        self.refused: set[str] = set()

    def RegisterResource(self, request: Any, context: Any) -> Any:  # noqa: N802 - the protocol's name
        self.asked.append(request)
        if request.type.rpartition(":")[2] in self.refused:
            context.abort(grpc.StatusCode.UNKNOWN, "it has no room")
        return resource_pb2.RegisterResourceResponse(
            urn=f"urn:{request.name}", id=request.name if request.custom else ""
        )


@pytest.fixture
def monitor() -> Iterator[tuple[Monitor, str]]:
    """A running monitor and its address."""
    servicer = Monitor()
    server = grpc.server(ThreadPoolExecutor(4))
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield servicer, f"127.0.0.1:{port}"
    server.stop(None).wait()


def request(address: str, secrets: tuple[tuple[str, ...], ...] = (), **inputs: Any) -> provider_pb2.ConstructRequest:
    return provider_pb2.ConstructRequest(
        type=CONFIG_GROUP,
        name="looms",
        parent="urn:parent",
        protect=True,
        dependencies=["urn:before"],
        providers={"kubernetes": "urn:provider::id"},
        aliases=[{"urn": "urn:once"}],
        resource_hooks={"after_create": ["tell"]},
        parallel=4,
        monitorEndpoint=address,
        inputs=encode(inputs, secrets),
    )


@pytest.mark.usefixtures("api_server")
def test_a_component_and_its_objects_are_registered_in_order(kube: Any, monitor: tuple[Monitor, str]) -> None:
    servicer, address = monitor

    answer = kube.provider.Construct(request(address, yaml=f"{LOOM}\n---\n{NAMESPACE}"), None)

    own, namespace, loom = servicer.asked
    assert (own.type, own.name, own.custom, own.parent, own.protect) == (
        CONFIG_GROUP,
        "looms",
        False,
        "urn:parent",
        True,
    )
    assert (list(own.dependencies), dict(own.providers)) == (["urn:before"], {"kubernetes": "urn:provider::id"})
    assert ([one.urn for one in own.aliases], list(own.hooks.after_create)) == (["urn:once"], ["tell"])
    assert (namespace.type, namespace.name) == ("kubernetes:core/v1:Namespace", "looms:mill")
    assert (loom.type, loom.name, loom.custom) == ("kubernetes:toy.dev/v1:Loom", "looms:mill/jacquard", True)
    assert (loom.parent, loom.provider, list(loom.dependencies)) == (
        "urn:looms",
        "urn:provider::id",
        ["urn:looms:mill"],
    )
    assert decode(loom.object).plain["spec"] == {"cards": 4}
    assert answer.urn == "urn:looms"
    assert decode(answer.state).plain == {"resources": ["looms:mill/jacquard", "looms:mill"]}


@pytest.mark.usefixtures("api_server")
def test_prefixes_may_be_empty_waits_are_skipped_and_secrets_stay_secret(
    kube: Any, monitor: tuple[Monitor, str]
) -> None:
    servicer, address = monitor
    given = request(address, (("yaml",),), yaml=LOOM, resourcePrefix="", skipAwait=True)

    kube.provider.Construct(given, None)

    sent = decode(servicer.asked[1].object)
    assert servicer.asked[1].name == "mill/jacquard"
    assert sent.plain["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
    assert sent.secrets == {("spec",)}


def test_inputs_that_a_preview_does_not_know_make_no_objects(
    kube: Any, monitor: tuple[Monitor, str], engine: Any
) -> None:
    servicer, address = monitor

    answer = kube.provider.Construct(request(address, yaml=UNKNOWN), None)

    assert [one.name for one in servicer.asked] == ["looms"]
    assert decode(answer.state).plain == {"resources": UNKNOWN}
    assert engine.messages == ["its inputs are known only after the apply; this preview does not include its objects"]


@pytest.mark.usefixtures("api_server")
def test_dependents_of_a_rejected_object_are_not_created(kube: Any, monitor: tuple[Monitor, str]) -> None:
    servicer, address = monitor
    servicer.refused = {"Namespace"}

    with pytest.raises(ProviderError) as error:
        kube.provider.Construct(request(address, yaml=f"{LOOM}\n---\n{NAMESPACE}"), None)

    assert str(error.value) == "Namespace mill was not created: it has no room"
    assert [one.name for one in servicer.asked] == ["looms", "looms:mill"]


@pytest.mark.usefixtures("api_server")
def test_an_unserved_kind_is_reported(kube: Any, monitor: tuple[Monitor, str], engine: Any) -> None:
    servicer, address = monitor
    text = LOOM.replace("toy.dev", "future.dev").replace(", namespace: mill", "")

    kube.provider.Construct(request(address, yaml=text), None)

    assert servicer.asked[1].name == "looms:jacquard"
    assert engine.messages == ["kinds not served yet: future.dev/v1 Loom; no default namespace is set on their objects"]


@pytest.mark.usefixtures("api_server")
def test_a_definition_in_the_same_input_defines_the_scope_of_a_kind(kube: Any, monitor: tuple[Monitor, str]) -> None:
    servicer, address = monitor
    definition = (
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: looms.future.dev}, "
        "spec: {group: future.dev, scope: Namespaced, names: {kind: Loom}}}"
    )
    text = LOOM.replace("toy.dev", "future.dev").replace(", namespace: mill", "")

    kube.provider.Construct(request(address, yaml=f"{text}\n---\n{definition}"), None)

    assert [one.name for one in servicer.asked] == ["looms", "looms:looms.future.dev", "looms:default/jacquard"]
