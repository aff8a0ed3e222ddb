"""Containers of images that exist as local programs: program, arguments, variables and kubeconfig."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators import containers
from jacquard.lab.rehearsal.operators.view import SIMULATED, simulated_secret
from jacquard.lab.toolchain import binaries
from tests.support.objects.live_objects import obj

FILLED = {
    "metrics": 7001,
    "health": 7002,
    "name_server": 7003,
    "namespace": "names",
    "kubeconfig": "/k",
    "files": "/f",
}
PROGRAMS = {one.name: one for one in containers.PROGRAMS}


@pytest.fixture(autouse=True)
def _everything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "path", lambda _: Path(sys.executable))


def pod(**spec: Any) -> Any:
    return obj("v1", "Pod", "controller-1", spec, namespace="names")


@pytest.mark.parametrize(
    ("image", "program"),
    [
        ("quay.io/metallb/controller:v0.16.1", "metallb-controller"),
        ("registry:5000/quay/metallb/controller@sha256:0", "metallb-controller"),
        ("metallb/controller", "metallb-controller"),
        ("registry.k8s.io/external-dns/external-dns:v0.21.0", "external-dns"),
        ("quay.io/notmetallb/controller:v1", None),
        ("quay.io/metallb/speaker:v0.16.1", None),
        ("registry.k8s.io/nfd/node-feature-discovery:v0.19.0", None),
    ],
)
def test_a_program_is_known_by_the_end_of_its_images_name(image: str, program: str | None) -> None:
    found = containers.program_of({"image": image})

    assert (found and found.name) == program


def test_of_an_image_with_several_programs_it_is_the_one_that_the_container_runs() -> None:
    image = "registry.k8s.io/nfd/node-feature-discovery:v0.19.0"
    commands = (["nfd-master"], ["nfd-worker"], ["nfd-gc"], [])

    found = [containers.program_of({"image": image, "command": command}) for command in commands]

    assert [one and one.name for one in found] == ["nfd-master", None, None, None]


@pytest.mark.parametrize(
    ("program", "given", "run"),
    [
        (
            "metallb-controller",
            ["--port=9120", "--lb-class=x"],
            [
                "--lb-class=x",
                "--port=7001",
                "--health-probe-port=7002",
                "--webhook-mode=disabled",
                "--namespace=names",
                "--kubeconfig=/k",
            ],
        ),
        (
            "external-dns",
            ["--source=service", "--source=ingress", "--rfc2136-host=10.0.0.53", "--rfc2136-port=53", "--events"],
            [
                "--source=service",
                "--source=ingress",
                "--events",
                "--metrics-address=127.0.0.1:7001",
                "--rfc2136-host=127.0.0.1",
                "--rfc2136-port=7003",
                "--kubeconfig=/k",
            ],
        ),
        (
            "nfd-master",
            ["-feature-gates=NodeFeatureAPI=true", "-port=8080"],
            [
                "-feature-gates=NodeFeatureAPI=true",
                "--port=7002",
                "--config=/f/etc/kubernetes/node-feature-discovery/nfd-master.conf",
                "--kubeconfig=/k",
            ],
        ),
    ],
)
def test_a_container_has_its_own_arguments_but_for_those_that_are_different_here(
    program: str, given: list[str], run: list[str]
) -> None:
    assert containers.arguments(PROGRAMS[program], {"args": given}, FILLED) == run


def test_variables_are_read_from_the_pod_and_from_secrets(objects: Any) -> None:
    filled = {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    secret = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    node = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    other = {"name": "OTHER", "valueFrom": {"fieldRef": {"fieldPath": "spec.unknown"}}}
    container = {"env": [filled, secret, node, other, {"name": "MODE", "value": "frr-k8s"}]}
    view, body = objects(simulated_secret("s", "names", ["k"])), pod(nodeName="n1")

    plain, master = (
        containers.variables(view, body, container, PROGRAMS[name]) for name in ("metallb-controller", "nfd-master")
    )

    assert plain == {"POD_NAME": "controller-1", "KEY": SIMULATED, "NODE": "n1", "MODE": "frr-k8s"}
    assert master == {"KUBERNETES_NAMESPACE": "names", **plain}


def test_variables_come_from_config_maps_too(objects: Any) -> None:
    view = objects(obj("v1", "ConfigMap", "c", namespace="names", data={"A": "1", "B": "2"}))
    key = {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "B"}}}
    container = {"envFrom": [{"configMapRef": {"name": "c"}, "prefix": "C_"}], "env": [key]}

    assert containers.variables(view, pod(), container) == {"C_A": "1", "C_B": "2", "B": "2"}


def test_a_container_waits_for_its_secrets_and_names_the_missing_key(objects: Any) -> None:
    container = {"env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}

    other = simulated_secret("s", "names", ["other"])
    for view, lacks in ((objects(), "not found"), (objects(other), "has no key 'k'")):
        with pytest.raises(containers.NotThere, match=rf"^pod names/controller-1 waits: Secret 'names/s' {lacks}$"):
            containers.variables(view, pod(), container, PROGRAMS["external-dns"])


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"name": "c"}, {"/etc/x/a": "1", "/etc/x/b": "2"}),
        ({"name": "c", "items": [{"key": "b", "path": "in/b.conf"}]}, {"/etc/x/in/b.conf": "2"}),
    ],
)
def test_a_container_has_the_files_of_its_config_maps(objects: Any, named: Any, expected: dict[str, str]) -> None:
    view = objects(obj("v1", "ConfigMap", "c", namespace="names", data={"a": "1", "b": "2"}))
    volumes = [{"name": "conf", "configMap": named}, {"name": "own", "emptyDir": {}}]
    mounts = [{"name": "conf", "mountPath": "/etc/x"}, {"name": "own", "mountPath": "/own"}]

    found = containers.files(view, pod(volumes=volumes), {"volumeMounts": mounts})

    assert {str(path): text for path, text in found.items()} == expected


def test_a_container_waits_for_its_config_maps_too(objects: Any) -> None:
    body = pod(volumes=[{"name": "conf", "configMap": {"name": "c", "items": [{"key": "a", "path": "a"}]}}])
    container = {"volumeMounts": [{"name": "conf", "mountPath": "/etc/x"}]}

    other = obj("v1", "ConfigMap", "c", namespace="names", data={"b": "2"})
    for view, lacks in ((objects(), "not found"), (objects(other), "has no key 'a'")):
        with pytest.raises(containers.NotThere, match=rf"^pod names/controller-1 waits: ConfigMap 'names/c' {lacks}$"):
            containers.files(view, body, container)


def test_a_container_without_a_kubeconfig_argument_has_none(objects: Any) -> None:
    assert containers.given_kubeconfig(objects(), pod(), {"args": ["--port=1"]}) is None
