"""Check: names, kinds, namespaces, annotations."""

from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.checks import complete
from jacquard.lab.standins.kubernetes.cluster import Cluster
from jacquard.lab.standins.kubernetes.objects import tokens
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import UNKNOWN

URN = "urn:pulumi:dev::toy::my:Parent$kubernetes:core/v1:ConfigMap::cm"
NOWHERE = Cluster("/nowhere/kubeconfig", None)
INSTALL = "install the vendor's provider: pulumi plugin install resource kubernetes v4.34.2"


def _complete(
    plain: dict[str, Any],
    old: dict[str, Any] | None = None,
    *,
    urn: str = URN,
    cluster: Cluster = NOWHERE,
    **request: Any,
) -> tuple[dict[str, Any], list[Any]]:
    return complete(provider_pb2.CheckRequest(urn=urn, **request), plain, old or {}, cluster)


def test_the_kind_is_derived_from_the_type() -> None:
    body, problems = _complete({"metadata": {"name": "cm"}})

    assert (body, problems) == ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}}, [])


def test_another_kind_than_the_types_is_a_problem() -> None:
    _, problems = _complete({"apiVersion": "v2", "kind": "Secret", "metadata": {"name": "cm"}})

    assert problems == [
        (("apiVersion",), "is 'v2', but the resource type requires 'v1'; use the same value"),
        (("kind",), "is 'Secret', but the resource type requires 'ConfigMap'; use the same value"),
    ]


def test_an_unnamed_object_gets_a_name_that_the_seed_decides() -> None:
    body, _ = _complete({}, randomSeed=b"seed")

    assert body["metadata"] == {"name": "cm-19b25856", "annotations": {"pulumi.com/autonamed": "true"}}


def test_an_unnamed_object_keeps_the_name_it_got() -> None:
    old = {"metadata": {"name": "cm-1234567", "annotations": {"pulumi.com/autonamed": "true"}}}

    body, _ = _complete({"metadata": {"labels": {"a": "b"}}}, old, randomSeed=b"other")

    assert body["metadata"] == {"labels": {"a": "b"}, **old["metadata"]}


def test_a_removed_name_is_not_kept() -> None:
    body, _ = _complete({}, {"metadata": {"name": "mine"}}, randomSeed=b"seed")

    assert body["metadata"]["name"].startswith("cm-")


def test_the_engine_may_propose_a_name() -> None:
    proposed = provider_pb2.CheckRequest.AutonamingOptions(proposed_name="toy-cm")

    assert _complete({}, autonaming=proposed)[0]["metadata"]["name"] == "toy-cm"


def test_autonaming_may_be_switched_off() -> None:
    off = provider_pb2.CheckRequest.AutonamingOptions(mode=provider_pb2.CheckRequest.AutonamingOptions.DISABLE)

    assert _complete({}, autonaming=off)[1] == [
        ((), "metadata.name is missing and the stack configuration disables autonaming; set a name")
    ]


def test_generate_name_is_not_done() -> None:
    assert _complete({"metadata": {"generateName": "a-"}})[1] == [
        (
            ("metadata", "generateName"),
            (
                "this stand-in for pulumi-kubernetes does not support generateName; set or omit metadata.name, or "
                f"{INSTALL}"
            ),
        )
    ]


def test_annotations_that_steer_waits_are_read_in_check() -> None:
    annotations = {
        "pulumi.com/waitFor": "Ready",
        "pulumi.com/timeoutSeconds": "5m",
        "pulumi.com/replaceUnready": "true",
    }

    assert _complete({"metadata": {"name": "cm", "annotations": annotations}})[1] == [
        (
            ("metadata", "annotations", "pulumi.com/waitFor"),
            "waitFor 'Ready' is not supported; write condition=TYPE, condition=TYPE=STATUS or jsonpath={.path}=VALUE",
        ),
        (
            ("metadata", "annotations", "pulumi.com/timeoutSeconds"),
            "must be a whole number of seconds (got '5m')",
        ),
        (
            ("metadata", "annotations", "pulumi.com/replaceUnready"),
            f"this stand-in for pulumi-kubernetes does not support pulumi.com/replaceUnready; {INSTALL}",
        ),
    ]


@pytest.mark.parametrize("metadata", [UNKNOWN, {"name": UNKNOWN, "annotations": UNKNOWN}])
def test_unknown_metadata_passes(metadata: Any) -> None:
    body, problems = _complete({"metadata": metadata})

    assert (body["metadata"], problems) == (metadata, [])


def test_metadata_of_another_type_is_a_problem() -> None:
    assert _complete({"metadata": "cm"})[1] == [(("metadata",), "must be a map (got str)")]


@pytest.mark.usefixtures("api_server")
def test_the_cluster_provides_the_default_namespace_of_namespaced_kinds(tmp_path: Path) -> None:
    cluster = Cluster(str(tmp_path / "kubeconfig"), None, namespace="here")
    namespace = "urn:pulumi:dev::toy::kubernetes:core/v1:Namespace::ns"
    future = "urn:pulumi:dev::toy::kubernetes:future.dev/v1:Thing::x"

    assert _complete({"metadata": {"name": "a"}}, cluster=cluster)[0]["metadata"]["namespace"] == "here"
    assert "namespace" not in _complete({"metadata": {"name": "a"}}, urn=namespace, cluster=cluster)[0]["metadata"]
    assert "namespace" not in _complete({"metadata": {"name": "a"}}, urn=future, cluster=cluster)[0]["metadata"]


def test_the_namespace_is_kept_while_the_cluster_is_unreachable() -> None:
    body, _ = _complete({"metadata": {"name": "a"}}, {"metadata": {"name": "a", "namespace": "before"}})

    assert body["metadata"]["namespace"] == "before"


@pytest.mark.parametrize(
    ("token", "plain", "instead"),
    [
        (
            "kubernetes:helm.sh/v3:Release",
            {},
            "declare a HelmRelease of Flux, or read the output of `helm template` with a ConfigFile",
        ),
        ("kubernetes:core/v1:ConfigMapList", {"items": []}, "declare its items"),
    ],
)
def test_types_that_are_no_single_object_are_refused(token: str, plain: dict[str, Any], instead: str) -> None:
    assert tokens.refusal(f"urn:pulumi:dev::toy::{token}::x", plain) == (
        f"this stand-in for pulumi-kubernetes does not support {token}; {instead}, or {INSTALL}"
    )


@pytest.mark.parametrize(
    "token",
    [
        "kubernetes:toy.dev/v1:IpAllowList",
        "kubernetes:toy.dev/v1:HotPatch",
        "kubernetes:core/v1:ConfigMap",
        "kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization",
    ],
)
def test_kinds_that_only_look_like_it_are_not_refused(token: str) -> None:
    assert tokens.refusal(f"urn:pulumi:dev::toy::{token}::x", {"kind": token.rpartition(":")[2]}) is None


PATCH = "urn:pulumi:dev::toy::kubernetes:core/v1:ConfigMapPatch::x"


def test_a_patch_is_of_the_kind_that_it_names_and_needs_a_name() -> None:
    given = {"apiVersion": "v1", "kind": "ConfigMap"}

    assert tokens.refusal(PATCH, given) is None
    body, problems = _complete({**given, "metadata": {"name": "a"}, "data": {"b": "c"}}, urn=PATCH)
    assert (body["kind"], body["data"], problems) == ("ConfigMap", {"b": "c"}, [])
    assert _complete({**given, "metadata": {"labels": {"b": "c"}}}, urn=PATCH)[1] == [
        (("metadata",), "a patch requires the name of its object; set metadata.name")
    ]


@pytest.mark.parametrize(("kind", "patched"), [("HotPatch", False), ("Hot", True), ("", False)])
def test_a_custom_kind_may_be_called_patch(kind: str, patched: bool) -> None:  # noqa: FBT001 - a table
    assert tokens.is_patch("urn:pulumi:dev::toy::kubernetes:toy.dev/v1:HotPatch::x", {"kind": kind}) is patched
