"""CSI drivers register where their agents run and the kubelet finds them; pods wait for the drivers of volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import agents, nodes
from jacquard.lab.rehearsal.operators.pulls.kubelets import Kubelets
from jacquard.lab.rehearsal.operators.storage.csi_nodes import Registrations
from tests.support.objects.live_objects import obj
from tests.support.objects.pulled_pods import CILIUM, Registries, events, node, pod

NFS = "nfs.csi.k8s.io"
K0S = {"kind": "K0sWorkerConfig", "spec": {"args": ["--labels=a=b"]}}
MOVED = {"kind": "K0sWorkerConfig", "spec": {"args": ["--kubelet-root-dir=/var/lib/kubelet"]}}
KUBEADM = {"kind": "KubeadmConfig", "spec": {"joinConfiguration": {"nodeRegistration": {}}}}


def release(chart: str = "csi-driver-nfs", **values: Any) -> Any:
    spec = {
        "chartRef": {"kind": "OCIRepository", "name": chart},
        "targetNamespace": "csi",
        "kubeConfig": {"secretRef": {"name": "acme-kubeconfig"}},
        "values": values,
    }
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    return obj(*agents.RELEASE, chart, spec, "acme", status=status)


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that sets the bootstrap config of nodes."""

    def join(**configs: Any) -> None:
        found = {("acme", name): nodes.Origin(host=name, config=config) for name, config in configs.items()}
        monkeypatch.setattr(nodes, "origins", lambda _: found)

    return join


def place(view: Any, name: str, *on: str, phase: str = "Running") -> None:
    """Run the DaemonSet controller and the kubelets for the DaemonSet ``name``."""
    spec = view.get("DaemonSet", name, "csi")["spec"]["template"]["spec"]
    for node_name in on:
        owner = {"ownerReferences": [{"kind": "DaemonSet", "name": name}]}
        placed = {**spec, "nodeName": node_name}
        view.create(obj("v1", "Pod", f"{name}-{node_name}", placed, "csi", status={"phase": phase}, metadata=owner))


def registered(view: Any) -> dict[str, list[str]]:
    bodies = view.all("storage.k8s.io/v1", "CSINode")
    return {body["metadata"]["name"]: [entry["name"] for entry in body["spec"]["drivers"]] for body in bodies}


def reconcile(view: Any, *releases: Any, by: Registrations | None = None) -> None:
    (by or Registrations()).reconcile(view.__class__(*releases), "acme", view)


@pytest.mark.parametrize(
    ("config", "values", "there"),
    [
        (KUBEADM, {}, True),
        (MOVED, {}, True),
        (K0S, {}, False),
        (K0S, {"kubeletDir": "/var/lib/k0s/kubelet"}, True),
        (MOVED, {"kubeletDir": "/var/lib/k0s/kubelet"}, False),
    ],
)
def test_a_driver_registers_if_its_agent_mounts_the_folder_of_the_kubelet(
    objects: Any, joined: Callable[..., None], config: Any, values: Any, *, there: bool
) -> None:
    joined(n1=config)
    view, driver = objects(node("n1"), node("n2")), release(**values)
    agents.reconcile(objects(driver), "acme", view)
    place(view, "csi-nfs-node", "n1")

    reconcile(view, driver)

    assert registered(view) == ({"n1": [NFS]} if there else {})


def test_a_driver_is_removed_with_its_agent_and_those_of_others_are_kept(
    objects: Any, joined: Callable[..., None]
) -> None:
    joined(n1=KUBEADM)
    view, driver, registrations = objects(node("n1")), release(), Registrations()
    other = {"name": "other.example", "nodeID": "n1"}
    view.create(obj("storage.k8s.io/v1", "CSINode", "n1", {"drivers": [other]}, namespace=""))
    agents.reconcile(objects(driver), "acme", view)
    place(view, "csi-nfs-node", "n1")

    reconcile(view, driver, by=registrations)
    assert registered(view) == {"n1": ["other.example", NFS]}
    view.delete(view.get("Pod", "csi-nfs-node-n1", "csi"))
    reconcile(view, driver, by=registrations)

    assert registered(view) == {"n1": ["other.example"]}


@pytest.mark.parametrize(
    ("chart", "agent", "values"),
    [
        ("csi-driver-nfs", "csi-nfs-node", {"node": {"nodeSelector": {"a": "b"}}}),
        ("topolvm", "topolvm-node", {"node": {"affinity": {"nodeAffinity": {}}, "tolerations": [{"key": "a"}]}}),
        ("vast-csi", "csi-vast-node", {"node": {"tolerations": [{"operator": "Exists"}]}}),
    ],
)
def test_an_agent_is_placed_by_the_values_of_its_release(objects: Any, chart: str, agent: str, values: Any) -> None:
    view = objects()

    agents.reconcile(objects(release(chart, **values)), "acme", view)

    spec = view.get("DaemonSet", agent, "csi")["spec"]["template"]["spec"]
    assert values["node"].items() <= spec.items()


def test_agents_of_a_changed_release_get_its_placement(objects: Any) -> None:
    view = objects()
    agents.reconcile(objects(release()), "acme", view)

    agents.reconcile(objects(release(node={"nodeSelector": {"a": "b"}})), "acme", view)

    assert view.get("DaemonSet", "csi-nfs-node", "csi")["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b"}


def volume(driver: str, mode: str) -> list[Any]:
    return [
        obj("v1", "PersistentVolumeClaim", "data", {"volumeName": "pvc-1"}),
        obj("v1", "PersistentVolume", "pvc-1", {"csi": {"driver": driver}, "volumeMode": mode}, namespace=""),
    ]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("mode", "reason", "failed", "error"),
    [
        (
            "Filesystem",
            "FailedMount",
            "MountVolume.MountDevice",
            "attacher.MountDevice failed to create newCsiDriverClient",
        ),
        ("Block", "FailedMapVolume", "MapVolume.SetUpDevice", "blockMapper.SetUpDevice failed to get CSI client"),
    ],
)
def test_a_pod_waits_for_the_driver_of_its_volume(
    objects: Any, mode: str, reason: str, failed: str, error: str
) -> None:
    waits = pod(CILIUM)
    waits["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    view = objects(node(), waits, *volume(NFS, mode))
    kubelets = Kubelets(Registries(CILIUM))  # type: ignore[arg-type]  # what it uses of the registries

    kubelets.reconcile(objects(), "acme", view)
    kubelets.reconcile(objects(), "acme", view)

    assert view.get("Pod", "agent", "ns")["status"] == {"phase": "Pending"}
    cause = f"driver name {NFS} not found in the list of registered CSI drivers"
    message = f'{failed} failed for volume "pvc-1" : kubernetes.io/csi: {error}: {cause}'
    assert events(view) == [("Warning", reason, message)]

    view.create(obj("storage.k8s.io/v1", "CSINode", "n1", {"drivers": [{"name": NFS}]}, namespace=""))
    kubelets.reconcile(objects(), "acme", view)
    assert view.get("Pod", "agent", "ns")["status"]["containerStatuses"][0]["imageID"]


@pytest.mark.usefixtures("files")
def test_a_driver_whose_agent_is_not_simulated_is_on_every_node(objects: Any) -> None:
    waits = pod(CILIUM)
    waits["spec"]["volumes"] = [{"name": "v", "ephemeral": {}}]
    claim, body = volume("other.example", "Filesystem")
    claim["metadata"]["name"] = "agent-v"
    view = objects(node(), waits, claim, body)

    Kubelets(Registries(CILIUM)).reconcile(objects(), "acme", view)  # type: ignore[arg-type]  # as above

    assert view.get("Pod", "agent", "ns")["status"]["containerStatuses"][0]["imageID"]
