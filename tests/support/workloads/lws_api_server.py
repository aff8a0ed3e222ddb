"""LeaderWorkerSet's real controller at an API server, optionally with Kubernetes' scheduler and racks of a cluster.

`chart_controllers` describes the real parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from components.inputs.workloads.queues import queued_pool
from components.lookups.pools import PlacedCluster
from components.render import labels as keys
from components.render.workloads.serving import CHART
from components.specs.environment import Environment
from components.specs.keys import pool_key
from jacquard.lab.toolchain import binaries
from jacquard.providers.kube import ObjectRef
from tests.support.add_ons.chart_controllers import FLAGS, START_SECONDS, ChartController, node
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.programs import Programs


class LwsController:
    """The controller at an API server; `start` runs it after its webhooks are active.

    Raises:
        ToolchainError: The controller is not built.
    """

    def __init__(self, folder: Path, server: LocalApiServer, environment: Environment, placed: PlacedCluster) -> None:
        self._manager = binaries.path("lws-manager")
        folder.mkdir(parents=True, exist_ok=True)
        self._programs, self._server = Programs(folder), server
        self._chart = ChartController(
            chart=CHART,
            namespace="lws-system",
            service="lws-webhook-service",
            secret="lws-webhook-server-cert",
            folder=folder,
            server=server,
        )
        self._chart.install(environment, placed)

    def stop(self) -> None:
        """Stop the controller."""
        self._programs.stop()

    def start(self) -> None:
        """Run the controller, and write the certificates that it creates to files, as a kubelet does."""
        arguments = (f"--config={self._chart.configuration}", "--zap-log-level=2")
        self._programs.start("lws", str(self._manager), *arguments, f"--kubeconfig={self._server.kubeconfig}")
        self._chart.mount_certificates()


class LwsCluster:
    """A cluster with the webhooks of LeaderWorkerSet, nodes and a scheduler; `controller` is not started.

    Raises:
        ToolchainError: The controller or the scheduler is not built.
    """

    def __init__(self, folder: Path, environment: Environment, placed: PlacedCluster) -> None:
        self._folder, self._environment, self._placed = folder, environment, placed
        scheduler = binaries.path("kube-scheduler")
        self._programs = Programs(folder)
        self._server = LocalApiServer(folder / "api", kinds=(), controllers=("statefulset-controller",), flags=FLAGS)
        self.api = self._server.api
        try:
            self.controller = LwsController(folder / "lws", self._server, environment, placed)
            config = f"--kubeconfig={self._server.kubeconfig}"
            self._programs.start("kube-scheduler", str(scheduler), config, "--leader-elect=false", "--secure-port=0")
        except BaseException:
            self._programs.stop()
            self._server.stop()
            raise

    def stop(self) -> None:
        """Stop all programs."""
        self.controller.stop()
        self._programs.stop()
        self._server.stop()

    def add_nodes(self, pool: str, racks: Iterable[str]) -> None:
        """Create a node for each host of ``pool`` in ``racks``."""
        cluster, chosen = self._placed.cluster, set(racks)
        [spec] = [item for item in cluster.pools if item.name == pool]
        kind = queued_pool(self._environment, cluster.name, spec)
        owners = self._environment.allocations.hosts
        for host in self._environment.hosts:
            if host.rack in chosen and owners.get(host.host) == pool_key(cluster.name, pool):
                self.api.create(node(host, kind), field_manager="test")

    def pods(self, namespace: str, labels: dict[str, str]) -> list[dict[str, Any]]:
        """Return the pods of ``namespace`` with all ``labels``, by name."""
        listed = self.api.list("v1", "Pod", namespace=namespace)
        chosen = [pod for pod in listed if labels.items() <= pod["metadata"]["labels"].items()]
        return sorted(chosen, key=lambda pod: pod["metadata"]["name"])

    def rack(self, pod: dict[str, Any]) -> str | None:
        """Return the rack of the node of ``pod``; None before it has a node."""
        name = pod["spec"].get("nodeName")
        node = self.api.get(ObjectRef("v1", "Node", name)) if name else None
        return node["metadata"]["labels"][keys.RACK] if node else None

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until ``condition`` is true."""
        wait_until(condition, timeout_seconds=START_SECONDS, what=f"{what}; see {self._folder}")
