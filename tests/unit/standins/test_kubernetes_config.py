"""The kubernetes provider's own inputs."""

import json
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.kubernetes import config
from jacquard.lab.standins.kubernetes.cluster import Cluster, NoKubeconfig
from jacquard.providers.kube import KubeconfigError
from jacquard.providers.rpc.values import UNKNOWN

INSTALL = "install the vendor's provider: pulumi plugin install resource kubernetes v4.34.2"
EMPTY = (
    "kubeconfig is empty, and the ambient cluster is never used; set it to the path or content of the cluster's "
    "kubeconfig"
)
NO_SUCH_INPUT = (
    "is not an input of the kubernetes provider (valid inputs: clusterIdentifier, context, deleteUnreachable, "
    "enableConfigMapMutable, enableSecretMutable, enableServerSideApply, kubeClientSettings, kubeconfig, namespace, "
    "skipUpdateUnreachable, strictMode, suppressDeprecationWarnings, suppressHelmHookWarnings, upsertExistingObjects)"
)


def _kubeconfig(path: Path, server: str) -> str:
    one = {"name": "a", "cluster": {"server": server}}
    other = {"name": "b", "cluster": {"server": f"{server}0"}}
    contexts = [{"name": name, "context": {"cluster": name}} for name in "ab"]
    path.write_text(json.dumps({"clusters": [one, other], "contexts": contexts, "current-context": "a"}))
    return str(path)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"kubeconfig": "/x"}, []),
        ({"kubeconfig": UNKNOWN, "context": UNKNOWN}, []),
        ({"kubeconfig": "/x", "context": "a", "strictMode": "true", "clusterIdentifier": "a"}, []),
        ({"kubeconfig": "/x", "enableServerSideApply": "true", "kubeClientSettings": '{"timeout": 5}'}, []),
        (
            {},
            [
                (
                    (),
                    EMPTY,
                )
            ],
        ),
        (
            {"kubeconfig": "", "strictMode": "true"},
            [
                (
                    ("kubeconfig",),
                    EMPTY,
                ),
                ((), "strictMode requires a context; set context"),
            ],
        ),
        (
            {"kubeconfig": "/x", "renderYamlToDirectory": "out", "cluster": "c"},
            [
                (
                    ("renderYamlToDirectory",),
                    f"this stand-in for pulumi-kubernetes does not support renderYamlToDirectory; {INSTALL}",
                ),
                (("cluster",), f"this stand-in for pulumi-kubernetes does not support cluster; {INSTALL}"),
            ],
        ),
        (
            {"kubeconfig": "/x", "enableServerSideApply": "false"},
            [(("enableServerSideApply",), f"this stand-in always uses server-side apply; {INSTALL}")],
        ),
        (
            {"kubeconfig": "/x", "deleteUnreachable": "yes"},
            [(("deleteUnreachable",), "must be true or false (got 'yes')")],
        ),
        (
            {"kubeconfig": "/x", "kubeClientSettings": "fast"},
            [(("kubeClientSettings",), 'must be a JSON object such as {"timeout": 30}')],
        ),
        (
            {"kubeconfig": "/x", "kubeconfg": "/y"},
            [
                (
                    ("kubeconfg",),
                    NO_SUCH_INPUT,
                )
            ],
        ),
    ],
)
def test_every_problem_is_named_with_its_remedy(inputs: dict[str, Any], expected: list[Any]) -> None:
    assert config.problems(inputs, default_provider=False) == expected


def test_strict_mode_forbids_the_default_provider() -> None:
    inputs = {"kubeconfig": "/x", "context": "a", "strictMode": "true"}

    assert config.problems(inputs, default_provider=True) == [
        ((), "strictMode forbids the default provider; set an explicit provider on each resource")
    ]


def _moves(old: dict[str, Any], new: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the changed inputs and those that replace the provider."""
    found, moved = config.difference(old, new)
    return (
        [str(change.path[0]) for change in found],
        [str(change.path[0]) for change in found if config.replaces(change, moved=moved)],
    )


def test_another_server_replaces_only_without_a_cluster_identifier(tmp_path: Path) -> None:
    one, two = _kubeconfig(tmp_path / "1", "http://one"), _kubeconfig(tmp_path / "2", "http://two")
    same = {"clusterIdentifier": "mgmt"}

    assert _moves({"kubeconfig": one}, {"kubeconfig": two}) == (["kubeconfig"], ["kubeconfig"])
    assert _moves({"kubeconfig": one, **same}, {"kubeconfig": two, **same}) == (["kubeconfig"], [])


def test_another_path_to_the_same_server_does_not_replace(tmp_path: Path) -> None:
    one, two = _kubeconfig(tmp_path / "1", "http://one"), _kubeconfig(tmp_path / "2", "http://one")

    assert _moves({"kubeconfig": one}, {"kubeconfig": two}) == (["kubeconfig"], [])


def test_another_context_is_another_cluster(tmp_path: Path) -> None:
    path = _kubeconfig(tmp_path / "1", "http://one")

    assert _moves({"kubeconfig": path, "context": "a"}, {"kubeconfig": path, "context": "b"}) == (
        ["context"],
        ["context"],
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({}, {"clusterIdentifier": "a"}, (["clusterIdentifier"], [])),
        ({"clusterIdentifier": "a"}, {}, (["clusterIdentifier"], [])),
        ({"clusterIdentifier": "a"}, {"clusterIdentifier": "b"}, (["clusterIdentifier"], ["clusterIdentifier"])),
        ({"kubeconfig": "/x"}, {"kubeconfig": UNKNOWN}, (["kubeconfig"], ["kubeconfig"])),
        (
            {"kubeconfig": "/x", "clusterIdentifier": "a"},
            {"kubeconfig": UNKNOWN, "clusterIdentifier": "a"},
            (["kubeconfig"], []),
        ),
        ({"kubeconfig": "/x"}, {"kubeconfig": "/y"}, (["kubeconfig"], [])),
        ({"kubeconfig": "/x", "context": ""}, {"kubeconfig": "/x"}, ([], [])),
        ({"enableSecretMutable": "false"}, {"enableSecretMutable": "true"}, (["enableSecretMutable"], [])),
    ],
)
def test_the_cluster_identifier_decides(old: dict[str, Any], new: dict[str, Any], expected: Any) -> None:
    assert _moves(old, new) == expected


def test_a_kubeconfig_is_read_when_it_is_needed_and_again_when_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "late"
    cluster = Cluster(str(path), None)

    with pytest.raises(NoKubeconfig) as error:
        cluster.api()
    assert str(error.value) == (
        f"{path}: the kubeconfig does not exist (yet); create the cluster first (`jacquard up ENVIRONMENT` writes the "
        "file), or make the provider depend on the resource that writes it"
    )

    _kubeconfig(path, "http://one")
    first = cluster.api()
    assert (first.server, cluster.api()) == ("http://one", first)

    replacement = tmp_path / "new"
    _kubeconfig(replacement, "http://two").rstrip()
    replacement.replace(path)
    assert cluster.api().server == "http://two"


def test_a_kubeconfig_can_be_passed_as_text(tmp_path: Path) -> None:
    text = Path(_kubeconfig(tmp_path / "x", "http://one")).read_text()

    assert Cluster(text, "b", namespace="here").api().server == "http://one0"
    assert Cluster(text, "b", namespace="here").api().namespace == "here"


def test_a_bad_kubeconfig_text_is_not_named_by_a_temporary_file() -> None:
    with pytest.raises(KubeconfigError) as error:
        Cluster('{"clusters": [], "contexts": []}', "nope").api()

    assert str(error.value) == "kubeconfig: has no context 'nope'; it has none"


def test_representations_show_no_credential() -> None:
    read = config.read({"kubernetes:config:kubeconfig": "{token: geheim}"}, {})

    assert "geheim" not in f"{read!r} {read.cluster!r}"


@pytest.mark.parametrize(
    ("inputs", "variable", "expected"),
    [({}, "true", True), ({"deleteUnreachable": "false"}, "true", False), ({"deleteUnreachable": "true"}, "", True)],
)
def test_an_input_precedes_the_vendors_variable(inputs: dict[str, str], variable: str, *, expected: bool) -> None:
    variables = {f"kubernetes:config:{name}": value for name, value in inputs.items()}

    read = config.read(variables, {"PULUMI_K8S_DELETE_UNREACHABLE": variable})

    assert read.delete_unreachable is expected
