"""Process with all simulated operators of a region: ``python -m jacquard.lab.rehearsal.operators FOLDER``."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ParamSpec

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.charts import Charts
from jacquard.lab.rehearsal.kubeconfigs import embedded
from jacquard.lab.rehearsal.operators import (
    certificates,
    control_planes,
    cron_jobs,
    data_stores,
    external_secrets,
    metrics,
    mirror,
    object_stores,
    platform,
    programs,
    references,
)
from jacquard.lab.rehearsal.operators.hosts import (
    agents,
    bare_metal,
    claims,
    devices,
    ironcore,
    machines,
    node_features,
    node_readiness,
    nodes,
    problem_detectors,
    reboots,
    remediation,
)
from jacquard.lab.rehearsal.operators.network import (
    address_pools,
    attachments,
    dns,
    dpu_ends,
    dpu_flashes,
    dpus,
    fabric_manager,
    ib_kubernetes,
    load_balancers,
    name_server,
)
from jacquard.lab.rehearsal.operators.platform import FLUX
from jacquard.lab.rehearsal.operators.pulls.kubelets import FailingContainers, Kubelets
from jacquard.lab.rehearsal.operators.pulls.upstream import Upstream
from jacquard.lab.rehearsal.operators.releases import helm, kustomizations
from jacquard.lab.rehearsal.operators.stacks.controller import Stacks
from jacquard.lab.rehearsal.operators.storage.csi_nodes import Registrations
from jacquard.lab.rehearsal.operators.view import LOG, SIMULATED, View
from jacquard.lab.rehearsal.operators.vms import snapshots, virtual_machines, vm_fleets, volumes
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.providers.kube import ApiError, ApiServer, KubeconfigError

_IN_TENANTS = (
    volumes.reconcile,
    vm_fleets.reconcile,
    virtual_machines.reconcile,
    snapshots.reconcile,
    load_balancers.reconcile,
    node_features.reconcile,
)
"""Operators that run in each cluster of a tenant."""
_P = ParamSpec("_P")
_USER_AGENT = "rehearsal-operators"
_PAUSE_SECONDS = 0.1
"""Minimum pause after a round with a change, because a change is often the first of several."""
_CALM_PAUSE_SECONDS = 0.5
"""Maximum pause after a round without a change."""
_QUIET_PAUSE_SECONDS = 1.0
_QUIET_ROUNDS = 10
"""Number of rounds without a change before the longer pause; an object in creation may be unchanged for fewer
rounds."""
_STILL_SECONDS = 3.0
"""Maximum additional pause without changes; changes that no watch reports are processed with this delay."""
_STILL_FACTOR = 9
"""The additional pause relative to the processor time of a round, if that is longer."""


class Servers:
    """The responding API servers of a region, each with a view for one round."""

    def __init__(self, region: Region) -> None:
        self.folder = region.folder
        self._region = region
        self._open: dict[str, tuple[float, ApiServer, mirror.Mirror]] = {}
        self.views: dict[str, View] = {}
        self.changed = threading.Event()
        """Set if an object has changed since the start of the last round."""

    def look(self) -> None:
        """Start a round with new views."""
        self.changed.clear()
        self.views = {}
        for cluster in {*self._region.clusters(), MANAGEMENT}:
            try:
                api, objects = self._server(cluster)
                api.request("GET", "/readyz")
            except (ApiError, KubeconfigError, OSError):
                continue
            # Releases for tenants' clusters have kubeconfigs of administrators.
            self.views[cluster] = View(api, objects, api.acting_as(FLUX) if cluster == MANAGEMENT else None)

    def kubeconfig(self, cluster: str) -> str | None:
        """Return the self-contained kubeconfig of a hosted cluster, or None if it does not respond."""
        if cluster not in self.views or cluster == MANAGEMENT:
            return None
        return embedded(self._region.kubeconfig(cluster), cluster)

    def _server(self, cluster: str) -> tuple[ApiServer, mirror.Mirror]:
        path = self._region.kubeconfig(cluster)
        modified = path.stat().st_mtime
        if cluster not in self._open or self._open[cluster][0] != modified:
            api = ApiServer.from_kubeconfig(path, user_agent=_USER_AGENT, connections=2, timeout_seconds=10)
            timeout = mirror.WATCH_SECONDS + 30
            watching = ApiServer.from_kubeconfig(
                path, user_agent=_USER_AGENT, connections=mirror.CONNECTIONS, timeout_seconds=timeout
            )
            self._open[cluster] = (modified, api, mirror.Mirror(api, watching, self.changed))
        return self._open[cluster][1:]


class Parts:
    """State of a region's simulation that is kept across rounds."""

    def __init__(self, region: Region) -> None:
        self.servers = Servers(region)
        self.upstream = Upstream(region)
        self.kubelets = Kubelets(self.upstream, FailingContainers(region.folder / "exit-codes"))
        self.drivers = Registrations()
        self.reboots = reboots.Reboots()
        self.helm = helm.Controller(Charts.if_built(region.folder / "charts"), self.upstream.serve)
        names = name_server.NameServer(region.folder, {SIMULATED: SIMULATED})
        self.programs = programs.Programs(region, names)
        self.problem_detectors = problem_detectors.ProblemDetectors(region)
        self.cron_jobs = cron_jobs.CronJobs(region)
        self.stacks = Stacks(region, self.servers.changed.set)
        self.fabric = ib_kubernetes.Daemons(fabric_manager.FabricManager(region.folder, SIMULATED, SIMULATED))
        self.machines = machines.Machines(region.folder)
        self.devices = partial(devices.devices_of, self.machines)
        self.blocks = address_pools.Blocks()
        self.sandboxes = attachments.Sandboxes(partial(platform.is_exclusive, region.folder))


def round_of(parts: Parts) -> int:
    """Run one round of all operators; return the number of changes."""
    servers = parts.servers
    servers.look()
    management = servers.views.get(MANAGEMENT)
    if management is not None:

        def hosted(cluster: str) -> View | None:
            secret = management.find("v1", "Secret", f"{cluster}-kubeconfig", cluster)
            return servers.views.get(cluster) if secret and cluster != MANAGEMENT else None

        _try(MANAGEMENT, nodes.create_management_nodes, management)
        _try(MANAGEMENT, platform.reconcile, servers.folder, servers.views)
        _try(MANAGEMENT, parts.upstream.reconcile)
        _try(MANAGEMENT, object_stores.reconcile, management)
        _try(MANAGEMENT, external_secrets.reconcile, management, hosted)
        for operator in (certificates.reconcile, metrics.reconcile, data_stores.reconcile):
            _try(MANAGEMENT, operator, management)
        _try(MANAGEMENT, control_planes.reconcile, management, servers.kubeconfig)
        _try(MANAGEMENT, load_balancers.give, management)
        _try(MANAGEMENT, bare_metal.reconcile, management, parts.machines.details, parts.machines.bios)
        _try(MANAGEMENT, bare_metal.switch_power, management)
        _try(MANAGEMENT, claims.reconcile, management)
        _try(MANAGEMENT, ironcore.reconcile, management, parts.machines.report)
        _try(MANAGEMENT, nodes.reconcile, management, hosted)
        _try(MANAGEMENT, claims.copy_labels, management, hosted)
        _try(MANAGEMENT, remediation.reconcile, management, hosted)
        _try(MANAGEMENT, parts.reboots.reconcile, management, hosted)
        _try(MANAGEMENT, dpus.reconcile, management)
        _try(MANAGEMENT, dpu_flashes.reconcile, management)
        _try(MANAGEMENT, dpu_ends.reconcile, management)
        _try(MANAGEMENT, dpu_flashes.release, management)
        _try(MANAGEMENT, parts.cron_jobs.reconcile, management)
        _try(MANAGEMENT, parts.stacks.reconcile, management)
        _try(MANAGEMENT, parts.helm.reconcile, management, hosted)
        _try(MANAGEMENT, parts.fabric.reconcile, management, hosted)
        _try(MANAGEMENT, dns.reconcile, servers.folder, management, hosted)
        _try(MANAGEMENT, kustomizations.reconcile, management)
        _try(MANAGEMENT, references.report, management, hosted)
        _try(MANAGEMENT, helm.update_simulated, management)
    running = processes.running(servers.folder)
    for cluster, view in servers.views.items():
        _try(cluster, parts.programs.reconcile, cluster, view, running)
        if cluster != MANAGEMENT:
            if management is not None:
                _try(cluster, agents.reconcile, management, cluster, view, parts.upstream.serve, parts.devices)
                _try(cluster, parts.problem_detectors.reconcile, management, cluster, view)
                _try(cluster, node_readiness.reconcile, management, cluster, view)
                _try(cluster, parts.drivers.reconcile, management, cluster, view)
                _try(cluster, parts.blocks.reconcile, management, cluster, view)
                _try(cluster, kustomizations.in_tenant, management, cluster, view)
            _try(cluster, parts.sandboxes.reconcile, view)
            for join in _IN_TENANTS:
                _try(cluster, join, view)
        if management is not None:
            # Pods of this round are already listed: rules of their network must not be older than the pods.
            _try(cluster, parts.kubelets.reconcile, management.latest(), cluster, view)
    return sum(view.changes for view in servers.views.values())


def _try(cluster: str, operator: Callable[_P, None], *arguments: _P.args, **options: _P.kwargs) -> None:
    """Run one operator; an error, such as an unexpected object, must not stop the other operators."""
    try:
        operator(*arguments, **options)
    except ApiError as error:
        LOG.warning("%s: %s", cluster, error)
    except Exception:  # noqa: BLE001 - logged with its traceback; the other operators continue
        LOG.exception("%s: an operator failed", cluster)


def pauses(quiet_rounds: int, busy_seconds: float) -> tuple[float, float]:
    """Return the pause after a round, and by how much it is longer unless a watch reports a change.

    Rounds use at most half a processor, and a tenth while nothing changes.
    """
    if quiet_rounds > _QUIET_ROUNDS:
        return max(_QUIET_PAUSE_SECONDS, busy_seconds), max(_STILL_SECONDS, _STILL_FACTOR * busy_seconds)
    return max(_PAUSE_SECONDS, busy_seconds), _CALM_PAUSE_SECONDS if quiet_rounds else 0.0


def main() -> None:
    """Run until the region's folder is removed."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    folder = Path(sys.argv[-1])
    parts = Parts(Region(folder.name, folder))
    quiet = 0
    while folder.is_dir():
        start = time.process_time()
        quiet = 0 if round_of(parts) else quiet + 1
        # Time spent waiting, such as for new kinds of an API server, does not count.
        pause, longer = pauses(quiet, time.process_time() - start)
        time.sleep(pause)
        parts.servers.changed.wait(longer)


if __name__ == "__main__":
    main()
