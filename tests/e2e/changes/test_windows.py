"""An enforced maintenance window: the rendered jobs' commands at a real API server with Cluster API's controller."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import Manifest, ManifestSet, objects
from components.render.objects import namespace
from components.render.pools.node_pool import NodePoolInput
from components.render.pools.pool_windows import FIELD_MANAGER, PAUSE, RESUME, PoolWindows
from components.specs.reading.loader import load_environment
from components.specs.struct import Struct, replace
from components.specs.times import WindowSpec
from jacquard.lab.toolchain import binaries
from jacquard.machine import paths
from jacquard.observe.objects import holds
from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.api_servers.cluster_api import CLUSTER_API, ManagementCluster, bare_cluster, management_cluster
from tests.support.data.pools import edited, of_kind, sized
from tests.support.engine.pulumi_project import Project
from tests.support.local_regions.local_region import wait_until

pytestmark = pytest.mark.e2e

CLUSTER = "acme-train"
KEPT, PAUSED = "acme-train-infer-a03", "acme-train-system-a04"
"""MachineDeployments: one that the window controls, one that its tenant pauses."""
WINDOW = {"days": ["tue", "thu"], "from": "22:00", "to": "04:00", "timezone": "America/New_York"}
PROGRAM = """
import json
import os
from pathlib import Path

from components.render.manifest import Manifest, ManifestSet
from components.resources import Cluster, register
import pulumi

class Part(pulumi.ComponentResource):
    def __init__(self, name, rendered, clusters):
        super().__init__("jacquard:test:Part", name)
        register(self, name, rendered, clusters)

management = Cluster(name="management", kubeconfig=Path(os.environ["KUBECONFIG"]), identifier="test/management")
data = json.loads(Path("objects.json").read_text())
members = {key: Manifest(body=body) for key, body in data["programs"].items()}
first, *others = [Manifest(body=body) for body in data["objects"]]
programs = ManifestSet(name="programs", namespace=data["namespace"], members=members)
Part("acme", [first, programs, *others], {"management": management})
"""


class Declared(Struct, kw_only=False):
    """Rendered objects of a cluster with an enforced window."""

    plane: HostedControlPlaneInput
    pools: dict[str, NodePoolInput]

    @property
    def programs(self) -> ManifestSet:
        """Return the set of jobs, and the RBAC objects of the platform's programs."""
        groups = tuple(item.name for item in self.deployments if not item.body["spec"].get("paused"))
        windows = PoolWindows(window=WindowSpec.model_validate(WINDOW), groups=groups, image="unused")
        rendered = replace(self.plane, windows=windows, lets_dpus_go=True).render()
        [programs] = [item for item in rendered if isinstance(item, ManifestSet) and item.name == "programs"]
        return programs

    @property
    def deployments(self) -> list[Manifest]:
        """Return the MachineDeployments."""
        every = (item for pool in self.pools.values() for item in objects(pool.render()))
        return [item for item in every if item.kind == "MachineDeployment"]

    @property
    def data(self) -> dict[str, Any]:
        """Return all objects that the test applies."""
        return {
            "namespace": self.programs.namespace,
            "programs": {key: dict(item.body) for key, item in self.programs.members.items()},
            "objects": [dict(item.body) for item in (namespace(CLUSTER), *self.deployments)],
        }

    def command(self, job: str) -> list[str]:
        """Return the command line of a job."""
        body = self.programs.members[f"CronJob/{job}"].body
        [container] = body["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
        assert container["command"] == ["kubectl"]
        return list(container["args"])


def declared(pause: str = "system") -> Declared:
    """Return two pools of laptop with an enforced window, one of which its tenant has paused."""
    laptop = load_environment("laptop", paths.ROOT / "environments")
    every = [item for part in slices(laptop) for item in inputs(laptop, part)]
    [plane] = [item for item in every if isinstance(item, HostedControlPlaneInput) and item.name == CLUSTER]
    pools = {item.spec.name: item for item in every if isinstance(item, NodePoolInput) and item.cluster == CLUSTER}
    chosen = {name: edited(pools[name], rollout={"paused": name == pause}) for name in ("infer", "system")}
    return Declared(plane, chosen)


class Cluster:
    """The management cluster, as the jobs and Cluster API access it."""

    def __init__(self, server: LocalApiServer) -> None:
        self.api, self._kubeconfig = server.api, str(server.kubeconfig)

    def turn(self, declared: Declared, job: str) -> None:
        """Run the command of a job as its service account."""
        ended = self._as_account(*declared.command(job))
        assert ended.returncode == 0, ended.stderr

    def refused(self, name: str) -> str:
        """Return the reason for which the service account may not pause a MachineDeployment."""
        patch = ("patch", "machinedeployments", name, f"--namespace={CLUSTER}", "--type=merge", "--patch={}")
        return self._as_account(*patch).stderr

    def _as_account(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        token = self._kubectl("create", "token", "rollout-window", f"--namespace={CLUSTER}")
        assert token.returncode == 0, token.stderr
        return self._kubectl(f"--token={token.stdout.strip()}", *arguments)

    def _kubectl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(binaries.path("kubectl")), f"--kubeconfig={self._kubeconfig}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def deployment(self, name: str) -> dict[str, Any]:
        """Return a MachineDeployment."""
        found = self.api.get(ObjectRef(CLUSTER_API, "MachineDeployment", name, CLUSTER))
        assert found is not None
        return found

    def pause(self, name: str) -> tuple[bool | None, set[str]]:
        """Return ``spec.paused`` of a MachineDeployment and its field managers."""
        body = self.deployment(name)
        fields = body["metadata"]["managedFields"]
        owners = {entry["manager"] for entry in fields if "f:paused" in entry["fieldsV1"].get("f:spec", {})}
        return body["spec"].get("paused"), owners

    def machines(self) -> set[str]:
        """Return the names of all Machines."""
        return {body["metadata"]["name"] for body in self.api.list(CLUSTER_API, "Machine", namespace=CLUSTER)}

    def sets(self, name: str) -> dict[str, int]:
        """Return the sizes of the MachineSets of a MachineDeployment, by machine template."""
        selector = f"cluster.x-k8s.io/deployment-name={name}"
        found = self.api.list(CLUSTER_API, "MachineSet", namespace=CLUSTER, label_selector=selector)
        return {
            body["spec"]["template"]["spec"]["infrastructureRef"]["name"]: body["spec"]["replicas"] for body in found
        }


@pytest.fixture(scope="module")
def management(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagementCluster]:
    with management_cluster(tmp_path_factory.mktemp("windows")) as running:
        yield running


@pytest.fixture(scope="module")
def server(management: ManagementCluster) -> LocalApiServer:
    return management.server


@pytest.fixture
def cluster(server: LocalApiServer) -> Iterator[Cluster]:
    """The cluster, without objects of other tests."""
    yield Cluster(server)
    for kind in ("MachineDeployment", "MachineSet", "Machine", "Cluster"):
        for body in server.api.list(CLUSTER_API, kind, namespace=CLUSTER):
            server.api.delete(ObjectRef(CLUSTER_API, kind, body["metadata"]["name"], CLUSTER))


@pytest.fixture
def project(server: LocalApiServer, tmp_path: Path) -> Project:
    return Project(tmp_path / "project", server.kubeconfig, PROGRAM)


def applied(project: Project, declared: Declared, *verb: str) -> str:
    """Declare these objects in the program, run ``pulumi`` and return its output."""
    (project.folder / "objects.json").write_text(json.dumps(declared.data))
    outcome = project.pulumi(*(verb or ("up", "--yes", "--skip-preview")), "-s", "test")
    assert outcome.code == 0, outcome.text
    return outcome.text


def test_the_window_opens_and_closes_and_an_apply_does_not_revert_it(cluster: Cluster, project: Project) -> None:
    data = declared()
    applied(project, data)
    assert (cluster.pause(KEPT), cluster.pause(PAUSED)) == ((None, set()), (True, {"jacquard"}))

    cluster.turn(data, PAUSE)
    assert (cluster.pause(KEPT), cluster.pause(PAUSED)) == ((True, {FIELD_MANAGER}), (True, {"jacquard"}))
    assert "forbidden" in cluster.refused(PAUSED)
    applied(project, data, "preview", "--expect-no-changes")
    applied(project, data, "refresh", "--yes", "--expect-no-changes")

    more = replace(data, pools={**data.pools, "infer": edited(data.pools["infer"], labels={"stage": "two"})})
    applied(project, more)
    labels = cluster.deployment(KEPT)["spec"]["template"]["metadata"]["labels"]
    assert (labels["node.cluster.x-k8s.io/stage"], cluster.pause(KEPT)) == ("two", (True, {FIELD_MANAGER}))

    cluster.turn(more, RESUME)
    assert (cluster.pause(KEPT), cluster.pause(PAUSED)) == ((None, set()), (True, {"jacquard"}))
    applied(project, more, "preview", "--expect-no-changes")


def test_a_tenant_can_pause_and_resume_a_pool_inside_and_outside_the_window(cluster: Cluster, project: Project) -> None:
    both, paused, free = declared(), declared("infer"), declared("none")
    applied(project, free)

    cluster.turn(free, RESUME)
    applied(project, paused)
    assert cluster.pause(KEPT) == (True, {"jacquard"})
    cluster.turn(paused, RESUME)
    assert cluster.pause(KEPT) == (True, {"jacquard"})
    applied(project, both)
    assert cluster.pause(KEPT) == (None, set())

    cluster.turn(both, PAUSE)
    applied(project, paused)
    assert cluster.pause(KEPT) == (True, {"jacquard", FIELD_MANAGER})
    applied(project, both)
    assert cluster.pause(KEPT) == (True, {FIELD_MANAGER})


@pytest.fixture
def controller(management: ManagementCluster) -> Iterator[None]:
    """Cluster API's controller without webhooks, which would stay registered after it ends and reject everything."""
    with management.controller(webhooks=False):
        yield


def with_image(pool: NodePoolInput, sha256: str) -> NodePoolInput:
    """Return ``pool`` with another build of its image."""
    groups = (replace(group, intent=group.intent.model_copy(update={"sha256": sha256})) for group in pool.groups)
    return replace(pool, groups=tuple(groups))


@pytest.mark.usefixtures("controller")
def test_outside_the_window_cluster_api_starts_no_rollout_but_scales_and_remediates(cluster: Cluster) -> None:
    def apply(*items: Manifest) -> None:
        for item in items:
            cluster.api.apply(item.body, field_manager="jacquard")

    def reached(what: str, *sizes: int, rolling: bool) -> None:
        """Wait until the controller has reconciled, with these MachineSet sizes and the status of the machines."""

        def done() -> bool:
            body = cluster.deployment(KEPT)
            seen = dig(body, "status", "observedGeneration") == body["metadata"]["generation"]
            return (
                seen and holds(body, "RollingOut") is rolling and sorted(cluster.sets(KEPT).values()) == sorted(sizes)
            )

        wait_until(done, timeout_seconds=60, what=what)

    def repaired(broken: str) -> bool:
        machines = cluster.machines()
        return len(machines) == 5 and broken not in machines

    data = declared()
    pool = data.pools["infer"]
    apply(*bare_cluster(CLUSTER), *data.programs.members.values(), *rolled(pool))
    reached("made", 4, rolling=False)

    cluster.turn(data, PAUSE)
    apply(*rolled(sized(pool, 5)))
    reached("scaled while held", 5, rolling=False)
    [first] = cluster.sets(KEPT)

    new = rolled(sized(with_image(pool, "1" * 64), 5))
    apply(*new)
    reached("held", 5, rolling=True)
    broken = cluster.machines().pop()
    cluster.api.delete(ObjectRef(CLUSTER_API, "Machine", broken, CLUSTER))
    wait_until(lambda: repaired(broken), timeout_seconds=60, what="repaired while held")
    assert cluster.sets(KEPT) == {first: 5}

    cluster.turn(data, RESUME)
    wait_until(lambda: len(cluster.sets(KEPT)) > 1, timeout_seconds=60, what="the roll begins")
    assert set(cluster.sets(KEPT)) == {first, new[0].name}


def rolled(pool: NodePoolInput) -> list[Manifest]:
    """Return the MachineDeployment of a pool with one group, and the templates of its machines."""
    kinds = ("Metal3MachineTemplate", "KubeadmConfigTemplate", "MachineDeployment")
    return [item for kind in kinds for item in of_kind(pool, kind)]
