"""Groups of an endpoint in the queues of a reference cluster: Kueue's and LeaderWorkerSet's real controllers together.

All nodes with GPUs exist as objects. No kubelet runs: the test reports that pods run and end.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import yaml

from components.inputs.slice_inputs import pod_priorities
from components.inputs.workloads import serving
from components.lookups.pools import clusters
from components.render.workloads.serving import BASE, GROUP
from components.specs.struct import replace
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube import ApiError, ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import reference
from tests.support.data.small_region import changed
from tests.support.local_regions.local_region import wait_until
from tests.support.workloads.kueue_api_server import WORKLOAD, KueueCluster, condition
from tests.support.workloads.lws_api_server import LwsController
from tests.support.workloads.serving_example import completed

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

SPACE, POOL, GROUPS, RACK = "inference", "nvl72", 2, 18
KIND = "LeaderWorkerSet"
INDEX = "leaderworkerset.sigs.k8s.io/group-index"
SECONDS = 180


class Served:
    """The documented example in the queues of its cluster."""

    def __init__(self, kueue: KueueCluster, base: dict[str, Any]) -> None:
        self.kueue, self.base = kueue, base
        self.size: int = base["spec"]["leaderWorkerTemplate"]["size"]

    def apply(self, body: dict[str, Any]) -> str:
        """Apply a LeaderWorkerSet; return why the API server refuses it, empty if it does not."""
        try:
            self.kueue.api.apply(body, field_manager="tenant", force=True)
        except ApiError as error:
            return str(error)
        return ""

    def create(self, body: dict[str, Any]) -> None:
        """Apply a LeaderWorkerSet once all webhooks answer."""
        wait_until(lambda: not self.apply(body), timeout_seconds=SECONDS, what="both controllers accept the endpoint")

    def workloads(self, name: str) -> list[dict[str, Any]]:
        """Return the Workloads of a LeaderWorkerSet."""

        def owners(item: dict[str, Any]) -> list[tuple[str, str]]:
            return [(owner["kind"], owner["name"]) for owner in item["metadata"].get("ownerReferences", ())]

        return [item for item in self.kueue.api.list(*WORKLOAD, namespace=SPACE) if (KIND, name) in owners(item)]

    def admitted(self, name: str) -> list[dict[str, Any]]:
        """Return the Workloads of a LeaderWorkerSet that Kueue admitted."""
        return [item for item in self.workloads(name) if condition(item, "Admitted").get("status") == "True"]

    def pods(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the pods of a LeaderWorkerSet by name, after the kubelets have acted."""
        self.kueue.end_deleted_pods(SPACE)
        self.kueue.run_pods(SPACE)
        return {pod["metadata"]["name"]: pod for pod in self.kueue.pods(SPACE, name)}

    def run(self, name: str, groups: int) -> bool:
        """Return whether all pods of ``groups`` groups run, each group in one rack."""
        pods = self.pods(name)
        running = [pod for pod in pods.values() if is_running(pod)]
        hosts = {(pod["metadata"]["labels"][INDEX], pod["spec"]["nodeName"]) for pod in running}
        racks = {(group, self.kueue.hosts[host].rack) for group, host in hosts}
        return len(running) == len(pods) == len(hosts) == groups * self.size and len(racks) == groups

    def remove(self, name: str) -> None:
        """Delete a LeaderWorkerSet, and wait until its pods have ended."""
        self.kueue.api.delete(ObjectRef(GROUP, KIND, name, SPACE))
        wait_until(lambda: not self.pods(name), timeout_seconds=SECONDS, what=f"the pods of {name} have ended")


def is_running(pod: dict[str, Any]) -> bool:
    """Return whether a pod runs and is not deleted."""
    return pod["status"]["phase"] == "Running" and not pod["metadata"].get("deletionTimestamp")


def variant(base: dict[str, Any], name: str, **fields: Any) -> dict[str, Any]:
    """Return a LeaderWorkerSet called ``name`` with other ``replicas`` or other fields of its template."""
    body = copy.deepcopy(base)
    body["metadata"]["name"] = name
    body["spec"]["replicas"] = fields.pop("replicas", body["spec"]["replicas"])
    body["spec"]["leaderWorkerTemplate"] |= fields
    return body


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    environment = reference("us-east-04a")
    [placed] = [item for item in clusters(environment) if item.cluster.queues and item.cluster.serving]
    folder = tmp_path_factory.mktemp("served")
    with ExitStack() as stack:

        def serve(server: LocalApiServer) -> None:
            controller = LwsController(folder / "lws", server, environment, placed)
            stack.callback(controller.stop)
            controller.start()

        try:
            kueue = KueueCluster(folder / "kueue", environment, placed, prepare=serve)
        except ToolchainError as error:
            pytest.skip(f"NO CONTROLLERS: {error}; make test-nightly builds them")
        stack.callback(kueue.stop)
        for item in (item for made in pod_priorities(environment, placed) for item in made.render()):
            kueue.api.apply(dict(item.body), field_manager="jacquard", force=True)
        [given] = serving.of_cluster(environment, placed)
        [endpoint] = given.endpoints
        # Without fabric ports, and without claims, which no kubelet and no driver provide here.
        gpus = {name: count for name, count in endpoint.limits.items() if "gpu" in name}
        spec = changed(endpoint.spec, groups=GROUPS, cache=None)
        given = replace(given, endpoints=(replace(endpoint, spec=spec, limits=gpus, networks=()),))
        [config] = [item for item in given.render() if item.kind == "ConfigMap"]
        yield Served(kueue, completed(yaml.safe_load(config.body["data"][BASE])))


def test_each_group_is_one_workload_of_the_serving_class_in_one_rack(served: Served) -> None:
    served.create(served.base)
    wait_until(lambda: len(served.admitted("chat")) == GROUPS, timeout_seconds=SECONDS, what="both groups are admitted")
    for workload in served.admitted("chat"):
        [pods] = workload["spec"]["podSets"]
        assert (pods["count"], workload["spec"]["queueName"]) == (served.size, "default")
        assert workload["spec"]["priority"] == served.kueue.queues.classes["serving"].value

    wait_until(lambda: served.run("chat", GROUPS), timeout_seconds=SECONDS, what="both groups run in a rack each")


def test_a_group_larger_than_a_rack_waits_as_a_whole(served: Served) -> None:
    served.create(variant(served.base, "wide", size=RACK + 1))
    reason = f"allows to fit only {RACK} out of {RACK + 1} pod(s)"

    def refused() -> bool:
        reported = [condition(item, "QuotaReserved").get("message", "") for item in served.workloads("wide")]
        return [reason in message for message in reported] == [True] * GROUPS

    wait_until(refused, timeout_seconds=SECONDS, what="Kueue reports why the groups wait")
    assert not served.admitted("wide")
    assert all(pod["spec"]["schedulingGates"] for pod in served.pods("wide").values())
    served.remove("wide")


def test_another_image_restarts_the_groups_on_their_nodes(served: Served) -> None:
    before = served.pods("chat")
    [server] = served.base["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    server["image"] = "docker.io/example/next:1"

    def restarted() -> bool:
        return served.run("chat", GROUPS) and all(
            pod["spec"]["containers"][0]["image"] == server["image"] for pod in served.pods("chat").values()
        )

    assert served.apply(served.base) == ""
    wait_until(restarted, timeout_seconds=SECONDS, what="all groups have the other image")
    homes = [{name: pod["spec"]["nodeName"] for name, pod in pods.items()} for pods in (before, served.pods("chat"))]
    assert homes[0] == homes[1]


def _tolerate(pod: dict[str, Any]) -> None:
    pod["tolerations"] = [{"operator": "Exists"}]


def _listen(pod: dict[str, Any]) -> None:
    pod["containers"][0]["ports"] = [{"containerPort": 9000}]


def _move(pod: dict[str, Any]) -> None:
    pod["nodeSelector"] = dict.fromkeys(pod["nodeSelector"], "data")


@pytest.mark.parametrize(
    ("change", "field"), [(_tolerate, "tolerations"), (_listen, "containers[0].ports"), (_move, "nodeSelector")]
)
def test_kueue_refuses_the_base_with_other(served: Served, change: Callable[[Any], None], field: str) -> None:
    body = copy.deepcopy(served.base)
    change(body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"])

    assert f"spec.leaderWorkerTemplate.workerTemplate.spec.{field}: Invalid value" in served.apply(body)
    assert served.run("chat", GROUPS)


def test_groups_of_another_size_wait_forever_unless_the_set_is_created_again(served: Served) -> None:
    """Kueue's Workloads of existing groups keep their number of pods."""
    served.create(variant(served.base, "other", replicas=1))
    wait_until(lambda: served.run("other", 1), timeout_seconds=SECONDS, what="the group runs")
    larger = variant(served.base, "other", replicas=1, size=served.size + 1)
    assert served.apply(larger) == ""

    def waits() -> bool:
        pods = served.pods("other").values()
        reasons = [condition(item, "Finished").get("reason") for item in served.workloads("other")]
        gated = [bool(pod["spec"].get("schedulingGates")) for pod in pods]
        return reasons == ["OutOfSync"] and gated == [True] * (served.size + 1)

    wait_until(waits, timeout_seconds=SECONDS, what="Kueue reports that the Workload does not match the group")
    served.remove("other")
    served.create(larger)
    wait_until(lambda: len(served.admitted("other")) == 1, timeout_seconds=SECONDS, what="the new group is admitted")
    served.remove("other")


def test_groups_scale_to_zero_and_back(served: Served) -> None:
    """Their Workloads are deleted, so that others use the quota."""
    assert served.apply(variant(served.base, "chat", replicas=0)) == ""
    wait_until(
        lambda: not served.pods("chat") and not served.workloads("chat"),
        timeout_seconds=SECONDS,
        what="pods and Workloads are deleted",
    )
    assert not served.apply(served.base)
    wait_until(lambda: served.run("chat", GROUPS), timeout_seconds=SECONDS, what="both groups run again")


def test_a_group_of_a_drained_node_waits_until_its_waiting_pod_is_deleted(served: Served) -> None:
    """Kueue 0.15.2 changes the assignment of the group, but not of a pod that it has already released."""
    api, name = served.kueue.api, "chat-0-1"
    host = served.pods("chat")[name]["spec"]["nodeName"]
    api.patch(ObjectRef("v1", "Node", host), {"spec": {"unschedulable": True}}, field_manager="capi")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": SPACE}}
    api.request("POST", f"{api.path(ObjectRef('v1', 'Pod', name, SPACE))}/eviction", body=eviction)

    def waits() -> bool:
        pod = served.pods("chat").get(name, {"spec": {}, "metadata": {}})
        selected = pod["spec"].get("nodeSelector", {}).get("kubernetes.io/hostname")
        gone = pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp")
        return selected == host and not gone

    wait_until(waits, timeout_seconds=SECONDS, what="the new pod waits for the node that is drained")
    api.delete(ObjectRef("v1", "Node", host))

    def moved() -> bool:
        [workload] = [item for item in served.admitted("chat") if "-chat-0-" in item["metadata"]["name"]]
        [podset] = workload["status"]["admission"]["podSetAssignments"]
        return host not in {domain["values"][-1] for domain in podset["topologyAssignment"]["domains"]}

    wait_until(moved, timeout_seconds=SECONDS, what="Kueue has assigned another node of the rack")
    assert waits()

    api.delete(ObjectRef("v1", "Pod", name, SPACE))
    wait_until(lambda: served.run("chat", GROUPS), timeout_seconds=SECONDS, what="the group runs on the other node")
    assert served.pods("chat")[name]["spec"]["nodeName"] != host


def test_an_endpoint_preempts_research_and_its_quota_refuses_the_next_group(served: Served) -> None:
    """Fill the cluster: research borrows the nodes that foundation leaves for the endpoint."""
    kueue, teams = served.kueue, {team.name: team for team in served.kueue.queues.spec.teams}
    own = {name: team.nodes.get(POOL, 0) for name, team in teams.items()}
    lent = teams[SPACE].borrow[POOL]
    borrowed = lent + 2 * served.size
    kueue.submit("preemptible", "research", RACK, "research", rack=True)
    kueue.await_admission("preemptible", "research")
    for name, namespace, nodes, group in (
        ("pretraining", "foundation", own["foundation"] - borrowed, "training"),
        ("embeddings", SPACE, own[SPACE] - GROUPS * served.size, "serving"),
        ("sweep", "research", own["research"], "training"),
        ("borrower", "research", borrowed - RACK - 1, "training"),  # One node was removed.
    ):
        kueue.submit(name, namespace, nodes, group, pods=False)
        kueue.await_admission(name, namespace)

    assert served.apply(variant(served.base, "chat", replicas=GROUPS + 1)) == ""

    def runs() -> bool:
        kueue.end_deleted_pods("research")
        return served.run("chat", GROUPS + 1)

    wait_until(runs, timeout_seconds=SECONDS, what="the third group runs")
    preempted = condition(kueue.workload("preemptible", "research"), "Preempted")
    assert (preempted["status"], preempted["reason"]) == ("True", "InCohortReclaimWhileBorrowing")
    assert not kueue.pods("research", "preemptible")
    kept = (("pretraining", "foundation"), ("embeddings", SPACE), ("sweep", "research"), ("borrower", "research"))
    assert all(kueue.is_true("Admitted", *job) for job in kept)

    kueue.submit("ranking", SPACE, lent - served.size, "serving", pods=False)
    kueue.await_admission("ranking", SPACE)
    assert served.apply(variant(served.base, "chat", replicas=GROUPS + 2)) == ""

    def refused() -> bool:
        messages = [condition(item, "QuotaReserved").get("message", "") for item in served.workloads("chat")]
        return sum("insufficient unused quota for nvidia.com/gpu" in message for message in messages) == 1

    wait_until(refused, timeout_seconds=SECONDS, what="the quota refuses the fourth group")
    assert len(served.admitted("chat")) == GROUPS + 1
    assert all(kueue.is_true("Admitted", *job) for job in kept[:2])  # Neither borrows nor has a lower class.
