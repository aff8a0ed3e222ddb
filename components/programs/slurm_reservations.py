"""Keeps Cluster API from draining nodes that a reservation of Slurm needs.

A drain cordons its node first, and Slurm's operator then drains the Slurm node
(SLURMOP:internal/controller/nodeset/nodeset_sync.go, ``syncCordon``): a drain that waits for a pod would already take
the node from its reservation. A hook on the Machine holds its deletion before the drain
(CAPI:internal/controllers/machine/machine_controller.go, ``reconcileDelete``). The program sets the hook while a
reservation uses the node, or would begin before the node was replaced, and removes it afterwards.

The program runs in the management cluster. It reads pods and reservations of the tenant's cluster with the kubeconfig
of Cluster API: slurmrestd is a Service there, which the API server reaches. If slurmrestd does not answer, all hooks
stay as they are. `components.render.workloads.slurm_reservations` renders its pod, which runs these modules with the
standard library only.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import json
import logging
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from components.programs.api import Api, is_written
from components.programs.objects import conditions, time_of

MANAGER = "jacquard-slurm-reservations"
HOOK = "pre-drain.delete.hook.machine.cluster.x-k8s.io/slurm-reservation"
"""Annotation of a Machine whose node is reserved; its value is the name of the reservation."""
DEADLINE = "nodeset.slinky.slurm.net/pod-deadline"
"""Annotation of a pod: latest end of the jobs of its Slurm node, which the operator writes
(SLURMOP:internal/controller/nodeset/slurmcontrol/slurmcontrol.go, ``GetNodeDeadlines``)."""
POD = "nodeset.slinky.slurm.net/pod-name"
"""Label of the pods of Slurm nodes."""
_POOL, _KEY = "jacquard.dev/pool", "jwt.key"
_CORE, _CAPI = "v1", "cluster.x-k8s.io/v1beta2"
_IGNORED = frozenset({"MAINT", "TIME_FLOAT"})
"""Flags of reservations that need no node: maintenance, and a start that is always in the future
(SLURM:doc/man/man1/scontrol.1)."""
_TOKEN_SECONDS = 600
_PART = re.compile(r"([^,\[\]]+)(?:\[([^\]]*)\])?")
"""Name in a list of Slurm, with or without ranges of numbers at its end."""
LOG = logging.getLogger("slurm-reservations")


def token(key: bytes, user: str, now: dt.datetime) -> str:
    """Return a token of ``user``, as the operator signs its own (SLURM:doc/html/jwt.shtml)."""
    start = int(now.timestamp())
    claims = {"sun": user, "iat": start, "exp": start + _TOKEN_SECONDS}
    signed = ".".join(_coded(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{signed}.{_coded(hmac.digest(key, signed.encode(), hashlib.sha256))}"


def names(nodes: str) -> Iterator[str]:
    """Yield the nodes of a list in Slurm's notation, such as ``train-[0-2,7],infer-0``."""
    for prefix, ranges in _PART.findall(nodes):
        if not ranges:
            yield prefix
        for first, _, last in (part.partition("-") for part in ranges.split(",") if part):
            yield from (f"{prefix}{number:0{len(first)}}" for number in range(int(first), int(last or first) + 1))


def seconds(value: Any) -> float:
    """Return a time of slurmrestd in seconds since 1970. It is a plain number in the API of releases before 23.11."""
    if isinstance(value, Mapping):
        return math.inf if value.get("infinite") else float(value.get("number") or 0)
    return float(value or 0)


def slurm_name(pod: Mapping[str, Any]) -> str:
    """Return the name of a pod's Slurm node (SLURMOP:internal/controller/nodeset/utils/utils.go)."""
    spec = pod["spec"]
    name = spec.get("nodeName") if spec.get("hostNetwork") else spec.get("hostname")
    return str(name or pod["metadata"]["name"])


def by_node(reservations: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the reservations that need their nodes, by name of the Slurm node, earliest start first."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for reservation in sorted(reservations, key=lambda item: seconds(item.get("start_time"))):
        for name in () if _IGNORED & set(reservation.get("flags") or ()) else names(reservation.get("node_list") or ""):
            found.setdefault(name, []).append(reservation)
    return found


def needed_by(
    pod: Mapping[str, Any], reservations: Iterable[Mapping[str, Any]], replacement_seconds: int, now: dt.datetime
) -> str | None:
    """Return the first of ``reservations`` that lacks the node of ``pod`` if its replacement begins now; None if none.

    A replacement waits for the jobs of the node, then takes ``replacement_seconds``.
    """
    deadline = (pod["metadata"].get("annotations") or {}).get(DEADLINE)
    idle = max(now, time_of(deadline)) if deadline else now
    ready = idle.timestamp() + replacement_seconds
    for item in reservations:
        if seconds(item.get("start_time")) < ready and seconds(item.get("end_time")) > now.timestamp():
            return str(item.get("name"))
    return None


def hold(management: Api, namespace: str, reasons: Mapping[str, Mapping[str, str | None]]) -> None:
    """Set and remove the hook of the Machines in ``namespace``; ``reasons`` are reservations by pool and node.

    Machines without a hook that are already deleted, and unhealthy ones, get none: their nodes are lost for the
    reservation.
    """
    for machine in management.items(_CAPI, "machines", namespace):
        metadata = machine["metadata"]
        node = ((machine.get("status") or {}).get("nodeRef") or {}).get("name", "")
        wanted = reasons.get((metadata.get("labels") or {}).get(_POOL, ""), {}).get(node)
        if conditions(machine).get("HealthCheckSucceeded", {}).get("status") == "False":
            wanted = None
        found = (metadata.get("annotations") or {}).get(HOOK)
        if wanted == found or (found is None and "deletionTimestamp" in metadata):
            continue
        if is_written(management.note, _CAPI, "machines", machine, {HOOK: wanted}):
            LOG.info("%s: %s", metadata["name"], f"reserved by {wanted}" if wanted else "not reserved")


def read(tenant: Api, settings: Mapping[str, Any], now: dt.datetime) -> list[dict[str, Any]]:
    """Return the reservations of the Slurm cluster."""
    namespace = settings["namespace"]
    secret = tenant.get(_CORE, "secrets", namespace, settings["keys_secret"]) or {"data": {}}
    key = base64.b64decode(secret["data"][_KEY])
    user = settings["user"]
    login = {"X-SLURM-USER-NAME": user, "X-SLURM-USER-TOKEN": token(key, user, now)}
    answer = tenant.ask(namespace, settings["service"], settings["path"], login)
    return list(answer.get("reservations") or ())


def reasons_of(tenant: Api, settings: Mapping[str, Any], now: dt.datetime) -> dict[str, dict[str, str | None]]:
    """Return the reservation that needs a node, by pool and node of Kubernetes."""
    pods = list(tenant.items(_CORE, "pods", settings["namespace"], labelSelector=POD))
    reservations = by_node(read(tenant, settings, now)) if pods else {}
    return {
        pool: {
            pod["spec"].get("nodeName", ""): needed_by(pod, reservations.get(slurm_name(pod), ()), duration, now)
            for pod in pods
        }
        for pool, duration in settings["pools"].items()
    }


def main(server: str, account: str, settings: str, kubeconfig: str) -> None:
    """Hold the Machines of a cluster whose nodes are reserved, and release all others."""
    file, now = json.loads(Path(settings).read_text(encoding="utf-8")), dt.datetime.now(dt.UTC)
    reasons = reasons_of(Api.of_kubeconfig(Path(kubeconfig), MANAGER), file, now)
    hold(Api.of_account(server, Path(account), MANAGER), file["cluster"], reasons)


def _coded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(*sys.argv[1:])
