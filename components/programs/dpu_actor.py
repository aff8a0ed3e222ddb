"""Release controller of DPUs: reads objects, gets the next steps from `dpu_decision`, and applies them.

`components.render.network.dpu_release` renders its pod, which runs both modules with the standard library only.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import logging
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from components.programs.api import Api, is_written
from components.programs.dpu_decision import AWAY, CYCLED, READY, Host, Verb, decide

HOLD = "provisioning.dpu.nvidia.com/wait-for-external-nodeeffect"
REBOOT = "provisioning.dpu.nvidia.com/dpunode-external-reboot-required"
POWER = "reboot.metal3.io"
OUT_OF_SERVICE = "capm3.metal3.io/unhealthy"
"""Annotation of a host that is out of service: the controller does not touch its power or its DPU."""
_HARD = '{"mode":"hard","force":true}'
"""Value that requests a hard power cycle. Without ``force``, Metal3 ignores the request on hosts without an image."""
_DPF, _METAL3, _CAPI = "provisioning.dpu.nvidia.com/v1alpha1", "metal3.io/v1alpha1", "cluster.x-k8s.io/v1beta2"
_OWNER, _GROUP = "svc.dpu.nvidia.com/owned-by-dpudeployment", "cluster.x-k8s.io/deployment-name"
_VPC = "jacquard.dev/vpc"
MANAGER = "jacquard-dpu-release"
"""Field manager of annotations."""
_NAME_LIMIT = 48
LOG = logging.getLogger("dpu-release")


def stuck(bodies: Iterable[dict[str, Any]], now: dt.datetime, minutes: int) -> list[str]:
    """Return the names of the hosts of ``bodies`` that are in service and have been away for more than ``minutes``."""
    return [
        body["metadata"]["name"]
        for body in bodies
        if OUT_OF_SERVICE not in _notes(body)
        and (since := _notes(body).get(AWAY))
        and now - dt.datetime.fromisoformat(since) > dt.timedelta(minutes=minutes)
    ]


class Region:
    """Objects of hosts and DPUs, read once per run."""

    def __init__(self, api: Api, settings: dict[str, Any]) -> None:
        self._api, self._deployments = api, settings["deployments"]
        home = settings["namespace"]
        wanted = {
            item["metadata"]["name"]: (item["spec"]["dpus"]["bfb"], item["spec"]["dpus"]["flavor"])
            for item in api.items("svc.dpu.nvidia.com/v1alpha1", "dpudeployments", home)
        }
        self._wanted = wanted
        self._dpus = {item["spec"]["dpuNodeName"]: item for item in api.items(_DPF, "dpus", home)}
        self._nodes = {item["metadata"]["name"]: item for item in api.items(_DPF, "dpunodes", home)}
        self._holds = {item["spec"]["dpuNodeName"]: item for item in api.items(_DPF, "dpunodemaintenances", home)}
        self.bodies: dict[str, dict[str, Any]] = {}
        self._machines: dict[tuple[str, str], dict[str, Any]] = {}
        self._groups: dict[tuple[str, str], dict[str, Any]] = {}
        for namespace in settings["hosts"]:
            self.bodies |= {item["metadata"]["name"]: item for item in api.items(_METAL3, "baremetalhosts", namespace)}
        for namespace in settings["clusters"]:
            for item in api.items(_CAPI, "machines", namespace):
                self._machines[namespace, item["spec"]["infrastructureRef"]["name"]] = item
            for item in api.items(_CAPI, "machinedeployments", namespace):
                self._groups[namespace, item["metadata"]["name"]] = item

    def hosts(self) -> Iterator[Host]:
        """Yield the hosts in service that have a DPUNode."""
        for name, body in self.bodies.items():
            ignored = "deletionTimestamp" in body["metadata"] or OUT_OF_SERVICE in _notes(body)
            if (node := self._nodes.get(node_name(name))) is not None and not ignored:
                yield self._host(name, body, node)

    def _host(self, name: str, body: dict[str, Any], node: dict[str, Any]) -> Host:
        notes, status, dpu = _notes(body), body.get("status") or {}, self._dpu(name)
        consumer = body["spec"].get("consumerRef")
        machine = self._machine(body)
        group = ((machine or {}).get("metadata") or {}).get("labels", {}).get(_GROUP)
        deployment, vpc = _deployment(dpu), (node["metadata"].get("labels") or {}).get(_VPC)
        known = deployment in self._deployments and self._deployments[deployment] == vpc
        flashed = dpu and (dpu["spec"].get("bfb"), dpu["spec"].get("dpuFlavor"))
        state = (status.get("provisioning") or {}).get("state")
        return Host(
            name=name,
            vpc=vpc,
            group=f"{body['metadata']['namespace']}/{group}" if group else None,
            claimed=consumer is not None,
            going=machine is not None and "deletionTimestamp" in machine["metadata"],
            yielding=bool(group) and whole(self._groups.get((body["metadata"]["namespace"], str(group)))),
            available=consumer is None and state == "available" and not status.get("errorMessage"),
            marked=READY in notes,
            away=AWAY in notes,
            asked=CYCLED in notes,
            cycling=POWER in notes or (CYCLED in notes and not status.get("poweredOn")),
            made=dpu is not None and "deletionTimestamp" not in dpu["metadata"],
            ready=known and _works(dpu),
            behind=known and deployment in self._wanted and flashed != self._wanted[deployment],
            held=_notes(self._holds.get(node_name(name))).get(HOLD) == "true",
            reboot=REBOOT in _notes(node),
        )

    def _dpu(self, host: str) -> dict[str, Any] | None:
        return self._dpus.get(node_name(host))

    def _machine(self, body: dict[str, Any]) -> dict[str, Any] | None:
        consumer = body["spec"].get("consumerRef") or {}
        return self._machines.get((body["metadata"]["namespace"], consumer.get("name", "")))

    def take(self, verb: Verb, host: Host, now: dt.datetime) -> None:
        """Apply ``verb`` to ``host``; the API server rejects it if the object has changed since it was read."""
        body, dpu = self.bodies[host.name], self._dpu(host.name)
        if verb in {Verb.MARK, Verb.GIVE_BACK}:
            self._api.note(_METAL3, "baremetalhosts", body, {READY: _deployment(dpu), AWAY: None, CYCLED: None})
        elif verb is Verb.TAKE:
            self._api.note(_METAL3, "baremetalhosts", body, {READY: None, AWAY: now.isoformat(timespec="seconds")})
        elif verb is Verb.CYCLE:
            self._api.note(_METAL3, "baremetalhosts", body, {POWER: _HARD, CYCLED: "true"})
        elif verb is Verb.DONE:  # In this order: if the second write fails, the unused host is only power-cycled again.
            self._api.note(_METAL3, "baremetalhosts", body, {CYCLED: None})
            self._api.note(_DPF, "dpunodes", self._nodes[node_name(host.name)], {REBOOT: None})
        elif verb is Verb.RELEASE:
            self._api.note(_DPF, "dpunodemaintenances", self._holds[node_name(host.name)], {HOLD: "false"})
        elif verb is Verb.EMPTY and (machine := self._machine(body)):
            self._api.delete(_CAPI, "machines", machine)
        elif verb is Verb.DELETE and dpu:
            self._api.delete(_DPF, "dpus", dpu)


def node_name(host: str) -> str:
    """Return the name of the DPUNode of ``host``, as rendered by the inventory."""
    if len(host) <= _NAME_LIMIT:
        return host
    return f"{host[: _NAME_LIMIT - 9].rstrip('-.')}-{hashlib.sha256(host.encode()).hexdigest()[:8]}"


def whole(group: dict[str, Any] | None) -> bool:
    """Return whether a MachineDeployment is complete, up to date and not paused: it can replace a machine now."""
    if group is None or "deletionTimestamp" in group["metadata"] or group["spec"].get("paused"):
        return False
    status, wanted = group.get("status") or {}, group["spec"].get("replicas")
    counted = [status.get(f"{kind}Replicas", 0) for kind in ("ready", "available", "upToDate")]
    seen = status.get("observedGeneration") == group["metadata"].get("generation")
    return seen and [status.get("replicas"), *counted] == [wanted] * 4


def _works(dpu: dict[str, Any] | None) -> bool:
    status = (dpu or {}).get("status") or {}
    conditions = status.get("operationalConditions") or ()
    operational = any(item["type"] == "OperationalReady" and item["status"] == "True" for item in conditions)
    exists = dpu is not None and "deletionTimestamp" not in dpu["metadata"]
    return exists and status.get("phase") == "Ready" and operational


def _deployment(dpu: dict[str, Any] | None) -> str:
    """Return the name of the DPUDeployment of ``dpu``; DPF stores it as ``<namespace>_<name>``."""
    return str((((dpu or {}).get("metadata") or {}).get("labels") or {}).get(_OWNER, "")).partition("_")[2]


def _notes(body: dict[str, Any] | None) -> dict[str, str]:
    return dict(((body or {}).get("metadata") or {}).get("annotations") or {})


def main(server: str, account: str, settings_file: str) -> int:
    """Apply the next step of each host; return 1 if a host has been away for too long, 0 otherwise."""
    settings, now = json.loads(Path(settings_file).read_text()), dt.datetime.now(dt.UTC)
    region = Region(Api.of_account(server, Path(account), MANAGER), settings)
    for verb, host in decide(region.hosts(), settings["max_away"], settings["max_away_per_vpc"]):
        done = is_written(region.take, verb, host, now)
        LOG.info("%s: %s", host.name, verb.value if done else "skipped, object changed since it was read")
    late = stuck(region.bodies.values(), now, settings["stuck_minutes"])
    for name in late:
        LOG.error("%s: away for more than %s minutes", name, settings["stuck_minutes"])
    return 1 if late else 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    sys.exit(main(*sys.argv[1:]))
