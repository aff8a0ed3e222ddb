"""A release follows its source: the history starts with the last installed chart."""

from __future__ import annotations

from typing import Any

from jacquard.lab.rehearsal.operators.releases import helm
from jacquard.lab.rehearsal.operators.releases.helm import FINALIZER, RELEASE
from jacquard.lab.rehearsal.operators.releases.installed import SOURCE

OLD, NEW = "sha256:" + "a" * 64, "sha256:" + "b" * 64


def obj(kind: tuple[str, str], namespace: str, spec: dict[str, Any], ready: str, **status: Any) -> dict[str, Any]:
    reported = {"conditions": [{"type": "Ready", "status": ready}], **status}
    return {
        "apiVersion": kind[0],
        "kind": kind[1],
        "metadata": {"name": "cilium", "namespace": namespace},
        "spec": spec,
        "status": reported,
    }


def source(digest: str, ready: str = "True") -> dict[str, Any]:
    spec = {"url": "oci://registry.example/charts/cilium", "ref": {"tag": "1.20.0", "digest": digest}}
    return obj((SOURCE, "OCIRepository"), "acme", spec, ready, artifact={"digest": digest})


def release(ready: str = "True", **status: Any) -> dict[str, Any]:
    spec = {"chartRef": {"kind": "OCIRepository", "name": "cilium"}, "targetNamespace": "kube-system"}
    return obj(RELEASE, "acme", spec, ready, **status)


def history(view: Any) -> list[tuple[str, int]]:
    found = view.get("HelmRelease", "cilium", "acme")["status"].get("history", [])
    return [(entry["ociDigest"], entry["version"]) for entry in found]


def test_a_ready_release_states_its_chart(objects: Any) -> None:
    view = objects(source(OLD), release())

    helm.update_simulated(view)
    helm.update_simulated(view)

    assert history(view) == [(OLD, 1)]
    [entry] = view.get("HelmRelease", "cilium", "acme")["status"]["history"]
    assert (entry["chartName"], entry["chartVersion"], entry["namespace"]) == (
        "cilium",
        "1.20.0+aaaaaaaaaaaa",
        "kube-system",
    )


def test_another_chart_in_the_source_is_an_upgrade(objects: Any) -> None:
    view = objects(source(OLD), release())
    helm.update_simulated(view)
    view.store["OCIRepository", "acme", "cilium"]["status"]["artifact"]["digest"] = NEW

    helm.update_simulated(view)

    assert history(view) == [(NEW, 2), (OLD, 1)]


def test_nothing_is_installed_before_source_and_release_are_ready(objects: Any) -> None:
    for view in (objects(source(OLD, "False"), release()), objects(source(OLD), release("False")), objects(release())):
        helm.update_simulated(view)
        assert history(view) == []


def test_the_result_of_a_release_is_recorded_next_to_its_history(objects: Any) -> None:
    view = objects(source(OLD), release())

    helm.update_simulated(view)

    status = view.get("HelmRelease", "cilium", "acme")["status"]
    assert (status["lastAttemptedRevision"], status["lastAttemptedRevisionDigest"]) == ("1.20.0+aaaaaaaaaaaa", OLD)


def test_a_release_that_helm_renders_is_left_to_it(objects: Any) -> None:
    rendered = release()
    rendered["metadata"]["finalizers"] = [FINALIZER]
    view = objects(source(OLD), rendered)

    helm.update_simulated(view)

    assert history(view) == []
