"""Helm's releases: the real helm renders what is here, and the rest is left to simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from live_objects import obj

from rehearsal import stages
from rehearsal.charts import Charts, HelmError
from rehearsal.operators import helm_watch
from rehearsal.operators.helm import FINALIZER, RELEASE, Controller, is_from_helm, is_real
from rehearsal.operators.helm_records import Place
from rehearsal.operators.helm_watch import FIELD_MANAGER

SOURCE = "source.toolkit.fluxcd.io/v1"
DIGEST, REVISION = "sha256:0123456789abcdef", "0.16.1+0123456789ab"


class Rendered(Charts):
    """One chart in one version, which comes to what a test says."""

    def __init__(self, *objects: Any) -> None:
        self.objects = list(objects)
        self.error = ""
        self.asked: list[Any] = []

    def has(self, chart: str, version: str) -> bool:
        return (chart, version) == ("metallb", "0.16.1")

    def template(self, *asked: Any) -> list[Any]:
        self.asked.append(asked)
        if self.error:
            raise HelmError(self.error)
        return self.objects


def source(version: str = "0.16.1", name: str = "metallb") -> Any:
    spec = {"url": f"oci://registry.example/charts/{name}", "ref": {"tag": version}}
    status = {"artifact": {"digest": DIGEST}, "conditions": [{"type": "Ready", "status": "True"}]}
    return obj(SOURCE, "OCIRepository", "metallb", spec, namespace="operators", status=status)


def release(*, waits: bool = True, finalizer: bool = True, **more: Any) -> Any:
    spec = {
        "chartRef": {"kind": "OCIRepository", "name": "metallb", "namespace": "operators"},
        "releaseName": "lb",
        "targetNamespace": "metallb-system",
        "storageNamespace": "metallb-system",
        "kubeConfig": {"secretRef": {"name": "acme-kubeconfig"}},
        "install": {"disableWait": True},
        "upgrade": {"disableWait": True},
        "values": {"speaker": {"tolerations": []}},
        **more.pop("spec", {}),
    }
    metadata = {"generation": 1, **({"finalizers": ["finalizers.fluxcd.io"]} if finalizer else {}), **more}
    status = {"conditions": [{"type": "Reconciling", "status": "True"}]} if waits else {}
    return obj(*RELEASE, "metallb", spec, namespace="acme", metadata=metadata, status=status)


def kubeconfig() -> Any:
    return obj("v1", "Secret", "acme-kubeconfig", namespace="acme")


def deployment(name: str = "controller") -> Any:
    return obj("apps/v1", "Deployment", name, {"replicas": 1}, namespace="metallb-system")


def definition(name: str, **more: Any) -> Any:
    versions = [{"name": "v1", "storage": True}]
    spec = {"group": "metallb.io", "names": {"kind": "Pool"}, "versions": versions, **more}
    return obj("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, spec, namespace="")


def here(view: Any) -> Callable[[str], Any]:
    return {"acme": view}.get


def ready(management: Any) -> tuple[str, str, str]:
    [found] = [
        one
        for one in management.get("HelmRelease", "metallb", "acme")["status"]["conditions"]
        if one["type"] == "Ready"
    ]
    return found["status"], found["reason"], found["message"]


def test_a_release_is_marked_before_anybody_else_says_that_it_is_installed(objects: Any) -> None:
    management, view = objects(release(finalizer=False), source()), objects()

    Controller(Rendered(deployment())).reconcile(management, here(view))

    assert is_real(management.get("HelmRelease", "metallb", "acme"))
    assert view.installed == []


def test_the_stage_of_releases_leaves_those_that_are_marked_alone() -> None:
    [stage] = [one for one in stages.stages("management", 1) if one["metadata"]["name"] == "release-installed"]

    [expression] = stage["spec"]["selector"]["matchExpressions"]
    assert expression["jq"]["key"].endswith(f'and (any(.metadata.finalizers[]?; . == "{FINALIZER}") | not)')


@pytest.mark.parametrize(
    ("found", "charts"),
    [
        (source("0.16.2"), Rendered()),
        (source(name="cilium"), Rendered()),
        (source(), None),
    ],
    ids=["another version", "another chart", "no helm"],
)
def test_a_chart_that_is_not_here_in_that_version_is_left_to_simulation(objects: Any, found: Any, charts: Any) -> None:
    management = objects(release(finalizer=False), found)

    Controller(charts).reconcile(management, here(objects()))

    assert not is_real(management.get("HelmRelease", "metallb", "acme"))


@pytest.mark.parametrize("field", ["postRenderers", "valuesFrom"])
def test_a_release_with_more_than_values_is_left_to_simulation(objects: Any, field: str) -> None:
    management = objects(release(finalizer=False, spec={field: [{}]}), source())

    Controller(Rendered()).reconcile(management, here(objects()))

    assert not is_real(management.get("HelmRelease", "metallb", "acme"))


def test_objects_are_applied_as_flux_does_with_exactly_the_values(objects: Any) -> None:
    charts = Rendered(deployment(), obj("v1", "Service", "webhook", namespace=""))
    management, view = objects(release(), source()), objects()

    Controller(charts).reconcile(management, here(view))

    assert charts.asked == [("metallb", "0.16.1", "lb", "metallb-system", {"speaker": {"tolerations": []}}, "v1.36.3")]
    where = [(kind, "metallb-system", FIELD_MANAGER) for kind in ("Deployment", "Service", "Secret")]
    assert view.installed == where
    metadata = view.get("Deployment", "controller", "metallb-system")["metadata"]
    assert metadata["labels"]["helm.toolkit.fluxcd.io/namespace"] == "acme"
    assert metadata["annotations"] == {
        "meta.helm.sh/release-name": "lb",
        "meta.helm.sh/release-namespace": "metallb-system",
    }
    said = f"Helm install succeeded for release metallb-system/lb.v1 with chart metallb@{REVISION}"
    assert ready(management) == ("True", "InstallSucceeded", said)
    status = management.get("HelmRelease", "metallb", "acme")["status"]
    assert (status["lastAttemptedRevision"], status["history"][0]["chartVersion"]) == (REVISION, REVISION)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({}, Place("own", "acme", "acme")),
        ({"targetNamespace": "there"}, Place("there-own", "there", "acme")),
        ({"targetNamespace": "there", "releaseName": "called"}, Place("called", "there", "acme")),
        ({"storageNamespace": "kept"}, Place("own", "acme", "kept")),
    ],
)
def test_what_a_release_does_not_say_of_its_place_is_as_in_flux(said: Any, place: Place) -> None:
    assert Place.of(obj(*RELEASE, "own", said, namespace="acme")) == place


def test_webhooks_are_left_out_since_nothing_answers_them(objects: Any) -> None:
    hook = obj("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook", namespace="")
    management, view = objects(release(), source()), objects()

    Controller(Rendered(hook, deployment())).reconcile(management, here(view))

    assert {kind for kind, *_ in view.installed} == {"Deployment", "Secret"}


def test_a_release_waits_for_its_source_its_prerequisites_its_cluster_and_whoever_suspended_it(objects: Any) -> None:
    charts = Rendered(deployment())

    Controller(charts).reconcile(objects(release(waits=False), source()), here(objects()))
    Controller(charts).reconcile(objects(release(), source()), here(None))
    Controller(charts).reconcile(objects(release()), here(objects()))
    fetching = source()
    fetching["status"]["conditions"] = []
    Controller(charts).reconcile(objects(release(), fetching), here(objects()))
    Controller(charts).reconcile(objects(release(spec={"suspend": True}), source()), here(objects()))

    assert charts.asked == []


def test_what_is_installed_is_left_alone_until_values_or_the_chart_change(objects: Any) -> None:
    charts, view = Rendered(deployment("old"), deployment()), objects()
    management = objects(release(), source())
    controller = Controller(charts)
    controller.reconcile(management, here(view))
    controller.reconcile(management, here(view))
    assert len(charts.asked) == 1

    charts.objects = [deployment()]
    management.get("OCIRepository", "metallb", "operators")["status"]["artifact"]["digest"] = "sha256:of another"
    controller.reconcile(management, here(view))

    assert ready(management)[1] == "UpgradeSucceeded"
    assert [one["metadata"]["name"] for one in view.all("apps/v1", "Deployment")] == ["controller"]


def in_management(**more: Any) -> Any:
    """Return a release in the management cluster, whose pods are waited for."""
    found = release(**more)
    for field in ("kubeConfig", "storageNamespace", "install", "upgrade"):
        del found["spec"][field]
    return found


def test_a_release_of_the_management_cluster_is_ready_once_its_pods_run_there(objects: Any) -> None:
    management, charts = objects(in_management(), source()), Rendered(deployment())
    controller = Controller(charts)

    controller.reconcile(management, here(objects()))
    controller.reconcile(management, here(objects()))

    assert ready(management) == ("Unknown", "Progressing", "Running 'install' action: Deployment controller")
    live = management.get("Deployment", "controller", "metallb-system")
    live["status"] = {"observedGeneration": 1, "updatedReplicas": 1, "availableReplicas": 1}
    controller.reconcile(management, here(objects()))
    assert ready(management)[:2] == ("True", "InstallSucceeded")
    assert len(charts.asked) == 1
    assert [(namespace, name) for _, namespace, name in secrets(management)] == [("acme", "sh.helm.release.v1.lb.v1")]


def test_kinds_that_the_management_cluster_has_are_left_to_it_and_others_are_brought(objects: Any) -> None:
    brought = [definition("pools.metallb.io", scope="Cluster"), definition("peers.metallb.io", scope="Cluster")]
    management = objects(in_management(), source(), definition("pools.metallb.io", scope="Namespaced"))

    Controller(Rendered(*brought)).reconcile(management, here(objects()))

    scopes = {name: body["spec"]["scope"] for (kind, _, name), body in management.store.items() if "Custom" in kind}
    assert scopes == {"pools.metallb.io": "Namespaced", "peers.metallb.io": "Cluster"}


def test_a_release_that_goes_while_its_pods_are_waited_for_leaves_nothing(objects: Any) -> None:
    management = objects(in_management(), source())
    controller = Controller(Rendered(deployment()))
    controller.reconcile(management, here(objects()))

    management.get("HelmRelease", "metallb", "acme")["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    controller.reconcile(management, here(objects()))

    assert {kind for kind, *_ in management.store} == {"HelmRelease", "OCIRepository"}
    assert not is_real(management.get("HelmRelease", "metallb", "acme"))


def test_what_is_installed_is_looked_after(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helm_watch, "_PAUSE_SECONDS", 0.0)
    view, management = objects(), objects(release(spec={"driftDetection": {"mode": "enabled"}}), source())
    controller = Controller(Rendered(deployment()))
    for _ in range(2):
        controller.reconcile(management, here(view))
    view.edit("Deployment", "controller", "metallb-system", {"spec": {"replicas": 7}})

    controller.reconcile(management, here(view))

    assert view.get("Deployment", "controller", "metallb-system")["spec"]["replicas"] == 1


def upgraded(controller: Controller, management: Any, view: Any, times: int) -> None:
    """Install, and let the source have another chart so many times."""
    for number in range(times + 1):
        artifact = management.get("OCIRepository", "metallb", "operators")["status"]["artifact"]
        artifact["digest"] = f"sha256:{number}"
        controller.reconcile(management, here(view))


def test_an_upgrade_is_a_revision_more_in_helms_records_and_in_the_history(objects: Any) -> None:
    view, management = objects(), objects(release(), source())

    upgraded(Controller(Rendered(deployment())), management, view, 1)

    kept = {name: secret["metadata"]["labels"]["status"] for (_, _, name), secret in secrets(view).items()}
    assert kept == {"sh.helm.release.v1.lb.v1": "superseded", "sh.helm.release.v1.lb.v2": "deployed"}
    history = management.get("HelmRelease", "metallb", "acme")["status"]["history"]
    told = [(one["version"], one["ociDigest"], one["status"]) for one in history]
    assert told == [(2, "sha256:1", "deployed"), (1, "sha256:0", "superseded")]
    assert "release metallb-system/lb.v2 with chart" in ready(management)[2]


def test_of_many_revisions_five_are_kept_and_an_uninstallation_takes_them_all(objects: Any) -> None:
    view, management = objects(), objects(release(), source(), kubeconfig())
    controller = Controller(Rendered(deployment()))

    upgraded(controller, management, view, 6)
    assert {secret["metadata"]["labels"]["version"] for secret in secrets(view).values()} == set("34567")

    management.get("HelmRelease", "metallb", "acme")["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    controller.reconcile(management, here(view))
    assert view.store == {}


def test_records_of_another_release_in_the_same_namespace_are_left_alone(objects: Any) -> None:
    view, management = objects(), objects(release(), source())
    upgraded(Controller(Rendered(deployment("other"))), management, view, 0)

    again = objects(release(spec={"releaseName": "second"}), source())
    upgraded(Controller(Rendered(deployment())), again, view, 0)

    assert {name for _, _, name in secrets(view)} == {"sh.helm.release.v1.lb.v1", "sh.helm.release.v1.second.v1"}
    assert view.get("Deployment", "other", "metallb-system")


def secrets(view: Any) -> dict[tuple[str, str, str], Any]:
    return {key: body for key, body in view.store.items() if key[0] == "Secret"}


def test_what_helm_or_the_cluster_refuses_is_said_and_tried_again_later(objects: Any) -> None:
    charts, view, management = Rendered(deployment()), objects(), objects(release(), source())
    view.refused = {"controller"}
    controller = Controller(charts)

    controller.reconcile(management, here(view))
    assert ready(management) == ("False", "InstallFailed", "Deployment controller: refused")
    charts.error = "helm refuses metallb"
    controller.reconcile(management, here(view))
    assert len(charts.asked) == 1, "not at once"
    Controller(charts).reconcile(management, here(view))

    assert ready(management) == ("False", "InstallFailed", "helm refuses metallb")


def test_an_uninstallation_leaves_kinds_and_what_is_not_the_releases(objects: Any) -> None:
    kind = definition("pools.metallb.io")
    view, management = objects(deployment("own")), objects(release(), source(), kubeconfig())
    controller = Controller(Rendered(kind, deployment()))
    controller.reconcile(management, here(view))
    assert is_from_helm(view.get("Deployment", "controller", "metallb-system"))

    management.get("HelmRelease", "metallb", "acme")["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    controller.reconcile(management, here(view))

    assert {(found, name) for found, _, name in view.store} == {
        ("CustomResourceDefinition", "pools.metallb.io"),
        ("Deployment", "own"),
    }
    assert not is_real(management.get("HelmRelease", "metallb", "acme"))


def test_a_release_waits_for_a_silent_cluster_and_goes_without_one_that_is_gone(objects: Any) -> None:
    deleted = release(deletionTimestamp="2026-01-01T00:00:00Z")
    silent, gone = objects(deleted, source(), kubeconfig()), objects(deleted, source())

    for management in (silent, gone):
        Controller(Rendered()).reconcile(management, here(None))

    assert is_real(silent.get("HelmRelease", "metallb", "acme"))
    assert not is_real(gone.get("HelmRelease", "metallb", "acme"))


def test_a_release_whose_chart_is_no_longer_here_goes_back_to_simulation(objects: Any) -> None:
    view, management = objects(), objects(release(), source(), kubeconfig())
    Controller(Rendered(deployment())).reconcile(management, here(view))

    Controller(None).reconcile(management, here(view))

    assert not is_real(management.get("HelmRelease", "metallb", "acme"))
    assert view.store == {}
