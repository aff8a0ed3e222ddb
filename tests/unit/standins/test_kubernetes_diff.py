"""Check and Diff of the kubernetes stand-in as called by the engine, without requests."""

from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.provider import KubernetesProvider
from jacquard.providers.rpc.server import Engine
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import UNKNOWN, decode, encode

KIND = provider_pb2.PropertyDiff
URN = "urn:pulumi:dev::toy::kubernetes:core/v1:ConfigMap::cm"


@pytest.fixture
def provider() -> Any:
    made = KubernetesProvider(Engine(None))
    variables = {
        "kubernetes:config:kubeconfig": "/nowhere/kubeconfig",
        "kubernetes:config:enableConfigMapMutable": "true",
        "kubernetes:config:enableSecretMutable": "true",
    }
    made.Configure(provider_pb2.ConfigureRequest(variables=variables), None)
    return made


def config_map(name: str = "a", *, namespace: str | None = "toy", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **fields}


def diff(provider: Any, old: dict[str, Any], new: dict[str, Any], state: dict[str, Any] | None = None) -> Any:
    request = provider_pb2.DiffRequest(urn=URN, old_inputs=encode(old), olds=encode(state or old), news=encode(new))
    return provider.Diff(request, None)


def kinds(answer: Any) -> dict[str, Any]:
    return {path: one.kind for path, one in answer.detailedDiff.items()}


def test_equal_inputs_are_no_change_with_any_additions_of_the_cluster(provider: Any) -> None:
    state = {**config_map(data={"v": "1"}), "status": {"seen": True}}

    answer = diff(provider, config_map(data={"v": "1"}), config_map(data={"v": "1"}), state)

    assert (answer.changes, kinds(answer)) == (provider_pb2.DiffResponse.DIFF_NONE, {})


def test_changed_data_is_an_update_with_its_path(provider: Any) -> None:
    answer = diff(provider, config_map(data={"v": "1", "w.x": "2"}), config_map(data={"v": "2", "y": "3"}))

    assert kinds(answer) == {"data.v": KIND.UPDATE, "data.y": KIND.ADD, 'data["w.x"]': KIND.DELETE}
    assert (list(answer.replaces), answer.deleteBeforeReplace) == ([], False)


def test_another_name_is_a_new_object_created_first(provider: Any) -> None:
    answer = diff(provider, config_map("a"), config_map("b"))

    assert kinds(answer) == {"metadata.name": KIND.UPDATE_REPLACE}
    assert (list(answer.replaces), answer.deleteBeforeReplace) == (["metadata.name"], False)


def test_the_same_name_must_go_before_its_replacement(provider: Any) -> None:
    answer = diff(provider, config_map(immutable=True, data={"v": "1"}), config_map(immutable=True, data={"v": "2"}))

    assert (kinds(answer), answer.deleteBeforeReplace) == ({"data.v": KIND.UPDATE_REPLACE}, True)


def test_an_unknown_name_replaces(provider: Any) -> None:
    assert kinds(diff(provider, config_map("a"), config_map(UNKNOWN))) == {"metadata.name": KIND.UPDATE_REPLACE}  # type: ignore[arg-type]


def test_a_namespace_that_the_cluster_chose_is_no_change(provider: Any) -> None:
    old, state = config_map(namespace=None), config_map(namespace="default")

    assert kinds(diff(provider, old, config_map(namespace="default"), state)) == {}
    assert kinds(diff(provider, config_map(namespace="default"), config_map(namespace=None), state)) == {}


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [("toy.dev/v1", "toy.dev/v2", KIND.UPDATE), ("toy.dev/v1", "new.dev/v1", KIND.UPDATE_REPLACE)],
)
def test_a_new_version_is_an_update_and_a_new_group_another_object(
    provider: Any, before: str, after: str, kind: Any
) -> None:
    old, new = ({**config_map(), "apiVersion": api_version} for api_version in (before, after))

    assert kinds(diff(provider, old, new)) == {"apiVersion": kind}


def test_check_marks_the_content_of_a_secret(provider: Any) -> None:
    secret = {"metadata": {"name": "a"}, "stringData": {"pw": "geheim"}, "type": "Opaque"}
    request = provider_pb2.CheckRequest(
        urn="urn:pulumi:dev::toy::kubernetes:core/v1:Secret::s", news=encode(secret, [("type",)])
    )

    checked = decode(provider.Check(request, None).inputs)

    assert (checked.plain["data"], checked.secrets) == ({"pw": "Z2VoZWlt"}, {("data",), ("type",)})


def test_check_failures_carry_their_path(provider: Any) -> None:
    news = {"kind": "Secret", "metadata": {"name": "a", "annotations": {"pulumi.com/timeoutSeconds": "x"}}}

    answer = provider.Check(provider_pb2.CheckRequest(urn=URN, news=encode(news)), None)

    assert [(failure.property, failure.reason) for failure in answer.failures] == [
        ("kind", "is 'Secret', but the resource type requires 'ConfigMap'; use the same value"),
        (
            'metadata.annotations["pulumi.com/timeoutSeconds"]',
            "must be a whole number of seconds (got 'x')",
        ),
    ]


def test_the_provider_config_is_checked_and_compared(provider: Any) -> None:
    urn = "urn:pulumi:dev::toy::pulumi:providers:kubernetes::mgmt"
    news = encode({"kubeconfig": ""})
    failures = provider.CheckConfig(provider_pb2.CheckRequest(urn=urn, news=news), None).failures
    assert [failure.property for failure in failures] == ["kubeconfig"]

    answer = provider.DiffConfig(
        provider_pb2.DiffRequest(
            urn=urn,
            old_inputs=encode({"kubeconfig": "/a", "clusterIdentifier": "a"}),
            news=encode({"kubeconfig": "/a", "clusterIdentifier": "b"}),
        ),
        None,
    )
    assert list(answer.replaces) == ["clusterIdentifier"]
