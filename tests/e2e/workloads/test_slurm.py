"""Slinky's real operator at a real API server and scheduler, with our objects and nodes that exist as objects only.

The operator is the release that the toolchain builds, with objects for that release. Nothing here is about the release
that the catalogue pins, nor about the faults that it fixes.

The operator creates no pod of a node before slurmrestd answers, so a stand-in answers, with idle nodes and no jobs. No
pod runs: nothing here proves that Slurm's daemons start with this configuration, or that nodes register with their
GPUs. `test_slurm_promotion` is about nodes with jobs.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.inputs import add_ons
from components.programs.slurm_topology import ANNOTATION
from components.render.workloads.slurm_pool import NAMESPACE
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube import ApiError, ObjectRef
from tests.support.add_ons.helm_charts import Helm
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.programs import Programs
from tests.support.objects.rendered_objects import objects_of
from tests.support.workloads.slurm_api_server import LEAVES, SlurmCluster
from tests.support.workloads.slurm_clusters import CLUSTER, placed_slurm, slurm_input, with_built_operator

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

MANAGER, SCHEDULER = "slurm-operator-manager", "kube-scheduler"


def kinds_of(environment: Environment, folder: Path) -> list[dict[str, Any]]:
    """Return the kinds that the release of the add-on installs."""
    [given] = add_ons.of_cluster(environment, placed_slurm(environment))
    [release] = [item for item in objects_of(given) if item.kind == "HelmRelease" and item.name == "slurm"]
    installed = Helm(folder, environment.versions.kubernetes[-1]).installed(release)
    return [body for body in installed if body["kind"] == "CustomResourceDefinition"]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    """Start the operator and the scheduler beside an API server with our Slurm cluster."""
    try:
        programs = {name: str(binaries.path(name)) for name in (MANAGER, SCHEDULER)}
    except ToolchainError as error:
        pytest.skip(f"NO SLURM OPERATOR: {error}; make test-nightly builds it")
    folder = tmp_path_factory.mktemp("slurm")
    laptop = with_built_operator(load_environment("laptop", ENVIRONMENTS))
    controllers = ("statefulset-controller", "deployment-controller", "replicaset-controller")
    server = LocalApiServer(folder / "api", kinds=("ServiceMonitor",), controllers=controllers)
    started = Programs(folder)
    cluster: SlurmCluster | None = None
    try:
        cluster = SlurmCluster(server, slurm_input(laptop), kinds_of(laptop, folder))
        [health] = ports.free(1)
        commands = (
            [programs[MANAGER], f"--health-addr={ports.LOOPBACK}:{health}", "--metrics-addr=0"],
            [programs[SCHEDULER], f"--kubeconfig={server.kubeconfig}", "--leader-elect=false", "--secure-port=0"],
        )
        for command in commands:
            proxy = {"HTTP_PROXY": cluster.slurmrestd.url, "NO_PROXY": ports.LOOPBACK}
            started.start(Path(command[0]).name, *command, KUBECONFIG=str(server.kubeconfig), **proxy)
        yield cluster
    finally:
        started.stop()
        if cluster is not None:
            cluster.slurmrestd.stop()
        server.stop()


def await_nodes(slurm: SlurmCluster) -> None:
    """Wait until each node of each pool has a scheduled pod."""
    for pool in slurm.given.pools:

        def scheduled(name: str = pool.spec.name, count: int = pool.nodes) -> bool:
            pods = slurm.pods(name)
            return len(pods) == count and all(pod["spec"].get("nodeName") for pod in pods.values())

        wait_until(scheduled, timeout_seconds=120, what=f"{pool.nodes} pods of {pool.spec.name} have a node")


def test_each_node_of_a_pool_has_one_pod_that_no_other_pod_joins(slurm: SlurmCluster) -> None:
    await_nodes(slurm)

    for pool in slurm.given.pools:
        pods = slurm.pods(pool.spec.name)
        homes = sorted(pod["spec"]["nodeName"] for pod in pods.values())
        assert homes == sorted(f"host-{pool.spec.name}-{number}" for number in range(pool.nodes))
        assert set(pods) == {f"{pool.spec.name}-{number}" for number in range(pool.nodes)}

    container = {"name": "main", "image": "example/job"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "job", "namespace": "default"}}
    slurm.api.apply({**body, "spec": {"containers": [container]}}, field_manager="test")
    ref = ObjectRef("v1", "Pod", "job", "default")

    def refused() -> bool:
        conditions = ((slurm.api.get(ref) or {}).get("status") or {}).get("conditions") or []
        return any(item["type"] == "PodScheduled" and item["status"] == "False" for item in conditions)

    wait_until(refused, timeout_seconds=60, what="the scheduler has no node for a pod of Kubernetes")


def test_slurmd_registers_with_the_gpus_of_the_instance_type_and_mounts_shared_volumes(slurm: SlurmCluster) -> None:
    await_nodes(slurm)

    for name, pod in slurm.pods("train").items():
        [slurmd] = [item for item in pod["spec"]["containers"] if item["name"] == "slurmd"]
        assert slurmd["args"][-2:] == ["--conf", "'Features=train Gres=gpu:h100:8'"]
        assert slurmd["resources"]["limits"]["nvidia.com/gpu"] == "8"
        assert {"/home", "/dev/shm"} <= {item["mountPath"] for item in slurmd["volumeMounts"]}  # noqa: S108
        assert pod["spec"]["hostname"] == name


def test_slurm_conf_has_the_partitions_of_the_data_and_the_node_sets_of_the_operator(slurm: SlurmCluster) -> None:
    def written() -> bool:
        config = slurm.get("v1", "ConfigMap", "slurm-config") or {"data": {}}
        return "NodeSet=infer" in config["data"].get("slurm.conf", "")

    wait_until(written, timeout_seconds=120, what="the operator has written slurm.conf")
    config = slurm.get("v1", "ConfigMap", "slurm-config")
    assert config is not None
    lines = config["data"]["slurm.conf"].splitlines()

    assert f"ClusterName={CLUSTER}" in lines
    assert {"NodeSet=train Feature=train", "NodeSet=infer Feature=infer"} <= set(lines)
    assert [line.split()[:2] for line in lines if line.startswith("PartitionName")] == [
        ["PartitionName=long", "Nodes=train"],
        ["PartitionName=short", "Nodes=train,infer"],
    ]
    assert "AccountingStorageHost=slurm-accounting" in lines
    assert "GresTypes=gpu" in lines
    assert "SchedulerParameters=nohold_on_prolog_fail" in lines
    assert [line for line in lines if line.startswith(("Prolog=", "Epilog="))] == [
        "Prolog=check-gpus.sh",
        "Prolog=prolog-mount.sh",
        "Epilog=epilog-clean.sh",
        "Epilog=check-gpus.sh",
    ]


def test_the_operator_runs_the_daemons_with_our_volume_secrets_and_images(slurm: SlurmCluster) -> None:
    wanted = {
        ("apps/v1", "StatefulSet", "slurm-controller"): "slurmctld",
        ("apps/v1", "StatefulSet", "slurm-accounting"): "slurmdbd",
        ("apps/v1", "Deployment", "slurm-restapi"): "slurmrestd",
        ("apps/v1", "Deployment", "login"): "slurm-login",
    }
    for place, image in wanted.items():
        wait_until(lambda place=place: slurm.get(*place) is not None, timeout_seconds=120, what=f"{place} exists")
        body = slurm.get(*place)
        assert body is not None
        images = {item["image"] for item in body["spec"]["template"]["spec"]["containers"]}
        assert slurm.given.images[image] in images

    controller = slurm.get("apps/v1", "StatefulSet", "slurm-controller")
    assert controller is not None
    [claim] = controller["spec"]["volumeClaimTemplates"]
    assert claim["spec"]["storageClassName"] == "shared-nfs"
    sources = controller["spec"]["template"]["spec"]["volumes"][0]["projected"]["sources"]
    assert {source["configMap"]["name"] for source in sources if "configMap" in source} == {
        "slurm-config",
        "slurm-prolog",
        "slurm-topology",
    }
    assert {source["secret"]["name"] for source in sources if "secret" in source} == {"slurm-keys"}
    secret = slurm.get("v1", "Secret", "slurm-accounting")
    assert secret is not None
    lines = base64.b64decode(secret["data"]["slurmdbd.conf"]).decode().splitlines()
    assert {"StorageHost=slurm-database", "StoragePort=3306", "StorageUser=slurm"} <= set(lines)
    assert "StorageLoc=slurm_acct_db" in lines
    service = slurm.get("v1", "Service", "login")
    assert service is not None
    assert (service["spec"]["type"], service["spec"]["ports"][0]["port"]) == ("LoadBalancer", 22)
    assert service["spec"]["loadBalancerSourceRanges"] == ["203.0.113.0/24", "192.0.2.0/26"]
    assert service["spec"]["externalTrafficPolicy"] == "Local"
    budget = slurm.api.list("policy/v1", "PodDisruptionBudget", namespace=NAMESPACE)
    assert [item["spec"]["maxUnavailable"] for item in budget] == [0]


def test_the_database_has_a_pod_with_its_volume_that_only_slurmdbd_reaches(slurm: SlurmCluster) -> None:
    labels: list[dict[str, str]] = []

    def created() -> bool:
        pods = {item["metadata"]["name"]: item for item in slurm.api.list("v1", "Pod", namespace=NAMESPACE)}
        names = ("slurm-database-0", "slurm-accounting-0")
        labels[:] = [pods[name]["metadata"]["labels"] for name in names if name in pods]
        return len(labels) == len(names)

    wait_until(created, timeout_seconds=120, what="database and slurmdbd have pods")
    server, slurmdbd = labels
    policy = slurm.get("networking.k8s.io/v1", "NetworkPolicy", "slurm-database")
    assert policy is not None
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= server.items()
    [rule] = policy["spec"]["ingress"]
    peers = [peer["podSelector"]["matchLabels"].items() for peer in rule["from"]]
    job = slurm.get("batch/v1", "CronJob", "slurm-database-backup")
    assert job is not None
    dumping = job["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    assert [[peer <= pod.items() for pod in (slurmdbd, dumping, server)] for peer in peers] == [
        [True, False, False],
        [False, True, False],
    ]
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert "egress" not in policy["spec"]


def test_pod_security_admits_the_pod_of_the_database_at_the_restricted_level(slurm: SlurmCluster) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "restricted", "labels": labels}}
    slurm.api.apply(home, field_manager="test")
    server = slurm.get("apps/v1", "StatefulSet", "slurm-database")
    assert server is not None
    spec = {key: value for key, value in server["spec"]["template"]["spec"].items() if key != "priorityClassName"}
    metadata = {"name": "probe", "namespace": "restricted"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}

    slurm.api.apply({**pod, "spec": spec}, field_manager="test", dry_run=True)

    with pytest.raises(ApiError, match="violates PodSecurity"):
        slurm.api.apply({**pod, "spec": {**spec, "hostNetwork": True}}, field_manager="test", dry_run=True)


def test_a_node_is_at_its_leaf_switch_and_its_pod_as_well(slurm: SlurmCluster) -> None:
    await_nodes(slurm)
    slurm.annotate()

    places = {name: node["metadata"].get("annotations", {}).get(ANNOTATION) for name, node in slurm.nodes().items()}
    assert places["host-train-0"] == "leaves:leaf-1"
    assert set(places.values()) == {f"leaves:{leaf}" for leaf in LEAVES}

    def copied() -> bool:
        pods = [*slurm.pods("train").values(), *slurm.pods("infer").values()]
        found = {pod["spec"]["nodeName"]: pod["metadata"]["annotations"].get(ANNOTATION) for pod in pods}
        return found == places

    wait_until(copied, timeout_seconds=120, what="the operator has copied the places of nodes to pods")

    def sent() -> bool:
        pods = {**slurm.pods("train"), **slurm.pods("infer")}
        reported = {name: node.get("topology") for name, node in slurm.slurmrestd.nodes.items()}
        return reported == {name: places[pod["spec"]["nodeName"]] for name, pod in pods.items()}

    wait_until(sent, timeout_seconds=120, what="the operator has sent the places of nodes to Slurm")


def test_the_operator_reports_the_nodes_and_leaves_the_lock_of_the_pools(slurm: SlurmCluster) -> None:
    await_nodes(slurm)

    def reported() -> bool:
        sets = slurm.api.list("slinky.slurm.net/v1beta1", "NodeSet", namespace=NAMESPACE)
        return {item["metadata"]["name"]: (item.get("status") or {}).get("replicas") for item in sets} == {
            pool.spec.name: pool.nodes for pool in slurm.given.pools
        }

    wait_until(reported, timeout_seconds=120, what="the operator reports as many nodes as the pools have")
    taints = {taint["key"] for node in slurm.nodes().values() for taint in node["spec"]["taints"]}
    assert "slinky.slurm.net/slurm" in taints
    assert "nodeset.slinky.slurm.net/worker" not in taints
