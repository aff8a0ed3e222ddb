"""Simulated kubelets: a pod with pulled images gets their digests, and a waiting pod states the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.pulls import kubelets
from tests.support.objects.pulled_pods import CILIUM, DIGEST, URL, Registries, events, node, pod, pull, waiting

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the kubelets' clock, in seconds."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setenv("JACQUARD_SPEED", "1")
    return now


def test_a_pod_with_pulled_images_gets_their_digests(objects: Any) -> None:
    view, registries = objects(node(), pod(CILIUM, "nginx")), Registries(CILIUM, "nginx")

    pull(objects(), view, registries, rounds=3)

    found = view.get("Pod", "agent", "ns")["status"]["containerStatuses"]
    assert [entry["imageID"] for entry in found] == [
        f"quay.io/cilium/cilium@{DIGEST}",
        f"docker.io/library/nginx@{DIGEST}",
    ]
    assert waiting(view) == ("ContainerCreating", "")
    assert registries.asked == [URL, "https://registry-1.docker.io/v2/library/nginx/manifests/latest"]
    assert events(view) == []


def test_a_name_that_no_registry_has_waits_with_the_kubelets_text_and_recovers(
    objects: Any, clock: list[float]
) -> None:
    view, registries = objects(node(), pod(CILIUM)), Registries()
    kubelet = kubelets.Kubelets(registries)  # type: ignore[arg-type]  # what it uses of the registries
    error = (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{CILIUM}": '
        f'failed to resolve reference "{CILIUM}": {CILIUM}: not found'
    )

    kubelet.reconcile(objects(), "acme", view)
    assert waiting(view) == ("ErrImagePull", error)
    kubelet.reconcile(objects(), "acme", view)
    kubelet.reconcile(objects(), "acme", view)
    assert waiting(view) == ("ImagePullBackOff", f'Back-off pulling image "{CILIUM}": ErrImagePull: {error}')
    assert events(view) == [
        ("Warning", "Failed", f'Failed to pull image "{CILIUM}": {error}'),
        ("Warning", "Failed", "Error: ErrImagePull"),
        ("Normal", "BackOff", f'Back-off pulling image "{CILIUM}"'),
        ("Warning", "Failed", "Error: ImagePullBackOff"),
    ]

    registries.images.add(CILIUM)
    clock[0] = 9.9
    kubelet.reconcile(objects(), "acme", view)
    assert waiting(view)[0] == "ImagePullBackOff"
    clock[0] = 10.1
    kubelet.reconcile(objects(), "acme", view)
    assert waiting(view) == ("ContainerCreating", "")


def test_retries_are_further_apart_and_not_reported_again(objects: Any, clock: list[float]) -> None:
    view, registries = objects(node(), pod(CILIUM)), Registries()
    kubelet = kubelets.Kubelets(registries)  # type: ignore[arg-type]  # what it uses of the registries

    tried = []
    for second in range(1000):
        clock[0] = float(second)
        before = len(registries.asked)
        kubelet.reconcile(objects(), "acme", view)
        tried += [second] if len(registries.asked) > before else []

    assert tried == [0, 10, 30, 70, 150, 310, 610, 910]
    assert len(events(view)) == 4


def test_nodes_with_equal_networks_and_files_pull_once_per_round(objects: Any) -> None:
    view = objects(node("n2"), node("n3"), pod(CILIUM, on="n2", name="a"), pod(CILIUM, on="n3", name="b"))
    registries = Registries(CILIUM)

    pull(objects(), view, registries)

    assert registries.asked == [URL]


def test_an_image_on_its_node_is_not_pulled_again_unless_always(objects: Any) -> None:
    view, registries = objects(node(), pod(CILIUM)), Registries(CILIUM)
    kubelet = kubelets.Kubelets(registries)  # type: ignore[arg-type]  # what it uses of the registries
    kubelet.reconcile(objects(), "acme", view)
    registries.images.clear()
    for name, policy in (("again", "IfNotPresent"), ("always", "Always"), ("never", "Never")):
        view.create(pod(CILIUM, name=name, imagePullPolicy=policy))
    view.create(pod("quay.io/a:1", name="absent", imagePullPolicy="Never"))

    kubelet.reconcile(objects(), "acme", view)

    reasons = {name: waiting(view, name=name)[0] for name in ("again", "always", "never", "absent")}
    assert reasons == {
        "again": "ContainerCreating",
        "always": "ErrImagePull",
        "never": "ContainerCreating",
        "absent": "ErrImageNeverPull",
    }


def test_init_containers_are_first(objects: Any) -> None:
    body = pod(CILIUM)
    body["spec"]["initContainers"] = [{"name": "first", "image": "quay.io/a:1"}]
    view, registries = objects(node(), body), Registries(CILIUM)
    kubelet = kubelets.Kubelets(registries)  # type: ignore[arg-type]  # what it uses of the registries

    kubelet.reconcile(objects(), "acme", view)

    assert waiting(view, of="initContainerStatuses")[0] == "ErrImagePull"
    assert waiting(view) == ("PodInitializing", "")
    assert [url.partition("/v2/")[2] for url in registries.asked] == ["a/manifests/1"]


def test_a_name_that_is_none_is_never_pulled(objects: Any) -> None:
    view, registries = objects(node(), pod("NGINX:")), Registries()

    pull(objects(), view, registries)

    problem = (
        'Failed to apply default image tag "NGINX:": couldn\'t parse image name "NGINX:": invalid reference format'
    )
    assert waiting(view) == ("InvalidImageName", problem)
    assert registries.asked == []


@pytest.mark.parametrize(
    "other",
    [
        {"status": {"phase": "Running"}},
        {"spec": {"nodeName": ""}},
        {"metadata": {"deletionTimestamp": "2026-11-26T00:00:00Z"}},
        {"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "rail0"}}},
        {"spec": {"nodeName": "real"}},
    ],
    ids=["running", "not scheduled", "deleted", "without sandbox", "on a node with a kubelet"],
)
def test_pods_without_simulated_pulls_are_skipped(objects: Any, other: Any) -> None:
    view, registries = objects(node(), node("real", other="x"), pod(CILIUM)), Registries(CILIUM)
    view.edit("Pod", "agent", "ns", other)

    pull(objects(), view, registries)

    assert registries.asked == []


def test_a_container_on_a_faulty_node_fails_its_pod(objects: Any, tmp_path: Path) -> None:
    once = pod(CILIUM, "nginx")
    once["spec"]["restartPolicy"] = "Never"
    first, second = (container["name"] for container in once["spec"]["containers"])
    view, again = objects(node(), once), objects(node(), pod(CILIUM, "nginx"))
    file = tmp_path / "acme.json"
    failing = kubelets.FailingContainers(tmp_path)
    kubelet = kubelets.Kubelets(Registries(CILIUM, "nginx"), failing)  # type: ignore[arg-type]  # as above

    file.write_text(json.dumps({"another": {second: 7}}))
    assert failing.status("acme", once) is None
    file.write_text(json.dumps({"*": {second: 7}}))
    for each in (view, again):
        kubelet.reconcile(objects(), "acme", each)

    status = view.get("Pod", "agent", "ns")["status"]
    assert status["phase"] == "Failed"
    codes = {entry["name"]: entry["state"]["terminated"]["exitCode"] for entry in status["containerStatuses"]}
    assert codes == {first: 0, second: 7}
    assert again.get("Pod", "agent", "ns")["status"].get("phase") != "Failed", "it would be restarted"
