"""What ExternalDNS does: names that Services and Ingresses ask for are written to a zone, and taken away with them.

The zone is a file of the region. Each release does what its flags say (external-dns 0.21.0), once its pods could start:
with the key, and with the kubeconfig of the cluster that it looks into. It writes down whose a name is, and touches no
other; whoever asked is told by an event. No message is sent. Only where the real ExternalDNS does not run: a release of
another version than the one that is here.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from jacquard.lab.rehearsal.operators.containers import is_run
from jacquard.lab.rehearsal.operators.releases.helm import FLUX_NAME, FLUX_NAMESPACE
from jacquard.lab.rehearsal.operators.releases.installed import installed
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

CHART = PROGRAM = "external-dns"
NAMES = "names.json"
"""File of the zone: for each name its addresses, and who wrote it."""
_ANNOTATION = "external-dns.alpha.kubernetes.io/"
_RESPONSIBLE = (None, "dns-controller")
_KUBECONFIG = "-kubeconfig"
_ENOUGH = 1024
"""Most characters of an event's note."""

Hosted = Callable[[str], View | None]
Zone = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A name, the addresses that it is to lead to, and the object that asks for it."""

    name: str
    addresses: tuple[str, ...]
    by: Object


def reconcile(folder: Path, management: View, hosted: Hosted) -> None:
    """Bring the zone in a region's folder one round on.

    Args:
        folder: The region's.
        management: The cluster with the releases.
        hosted: Returns a tenant's cluster by its name, None where nobody answers.
    """
    path = folder / NAMES
    zone: Zone = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    before = json.dumps(zone, sort_keys=True)
    for release in installed(management, CHART):
        values = dig(release, "spec", "values") or {}
        looked_into = None if _is_run(management, release) else _source(management, release, values, hosted)
        if looked_into is not None:
            _keep(zone, values, looked_into)
    if json.dumps(zone, sort_keys=True) != before:
        path.write_text(json.dumps(zone, indent=1, sort_keys=True), encoding="utf-8")


def _is_run(management: View, release: Object) -> bool:
    """Tell whether the chart of a release is real, and so are its pods."""
    metadata = release["metadata"]
    labels = {FLUX_NAME: metadata["name"], FLUX_NAMESPACE: metadata["namespace"]}.items()
    brought = management.all("apps/v1", "Deployment")
    return any(is_run(one, PROGRAM) for one in brought if labels <= (one["metadata"].get("labels") or {}).items())


def _source(management: View, release: Object, values: Mapping[str, Any], hosted: Hosted) -> View | None:
    """Return the cluster that a release looks into; None as long as its pod cannot start, or nobody answers."""
    place = dig(release, "spec", "targetNamespace")
    for one in values.get("env", ()):
        named = dig(one, "valueFrom", "secretKeyRef") or {}
        if not dig(management.find("v1", "Secret", named.get("name"), place), "data", named.get("key", "")):
            return None
    secrets = [dig(one, "secret", "secretName") for one in values.get("extraVolumes", ())]
    if any(management.find("v1", "Secret", name, place) is None for name in secrets):
        return None
    if "kubeconfig" not in values["extraArgs"]:
        return management
    return next((hosted(name.removesuffix(_KUBECONFIG)) for name in secrets if name.endswith(_KUBECONFIG)), None)


def _keep(zone: Zone, values: Mapping[str, Any], view: View) -> None:
    """Write what is asked for, and take away what nobody asks for any more, of the names that this release wrote."""
    owner, wanted = values["txtOwnerId"], {one.name: one for one in _asked(values, view)}
    for name, one in wanted.items():
        record = {"addresses": list(one.addresses), "owner": owner}
        had = zone.get(name)
        if had != record and (had is None or had["owner"] == owner):
            zone[name] = record
            view.create(_event(one, owner, "Updated" if had else "Created"))
    if values["policy"] == "sync":
        for name in [name for name, had in zone.items() if had["owner"] == owner and name not in wanted]:
            del zone[name]


def _asked(values: Mapping[str, Any], view: View) -> Iterator[_Asked]:
    """Yield each name that counts, with the addresses that count."""
    flags = values["extraArgs"]
    names, networks = re.compile(flags["regex-domain-filter"]), [ip_network(one) for one in flags["target-net-filter"]]
    for one in _sources(values, view):
        own = one["metadata"].get("annotations") or {}
        if own.get(f"{_ANNOTATION}controller") not in _RESPONSIBLE:
            continue
        given = dig(one, "status", "loadBalancer", "ingress") or ()
        targets = _split(own.get(f"{_ANNOTATION}target", "")) or [entry["ip"] for entry in given if "ip" in entry]
        counted = tuple(sorted(target for target in targets if _is_within(target, networks)))
        hosts = [rule["host"] for rule in dig(one, "spec", "rules") or () if rule.get("host")]
        for name in dict.fromkeys([*_split(own.get(f"{_ANNOTATION}hostname", "")), *hosts]):
            if counted and names.search(name):
                yield _Asked(name, counted, one)


def _sources(values: Mapping[str, Any], view: View) -> Iterator[Object]:
    if "service" in values["sources"]:
        kind = values["extraArgs"]["service-type-filter"]
        yield from (one for one in view.all("v1", "Service") if dig(one, "spec", "type") == kind)
    if "ingress" in values["sources"]:
        yield from view.all("networking.k8s.io/v1", "Ingress")


def _split(text: str) -> list[str]:
    """Return the entries of an annotation as upstream reads it: blanks go, wherever they are, and nothing else."""
    return [part for part in text.replace(" ", "").strip().split(",") if part]


def _is_within(target: str, networks: list[Any]) -> bool:
    try:
        address = ip_address(target)
    except ValueError:
        return False
    return any(address in network for network in networks)


def _event(asked: _Asked, owner: str, action: str) -> Object:
    metadata, moment = asked.by["metadata"], time.time_ns()
    place = {"namespace": metadata["namespace"], "name": metadata["name"]}
    about = {"apiVersion": asked.by["apiVersion"], "kind": asked.by["kind"], "uid": metadata["uid"], **place}
    note = f"(external-dns) record:{asked.name},owner:{owner},type:A,ttl:0,targets:{','.join(asked.addresses)}"
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment // 10**9))
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{moment:x}", "namespace": metadata["namespace"]},
        "eventTime": f"{at}.{moment // 1000 % 10**6:06}Z",
        "type": "Normal",
        "reason": "RecordReady",
        "action": action,
        "note": note[:_ENOUGH],
        "regarding": about,
        "related": about,
        "reportingController": "external-dns",
        "reportingInstance": f"external-dns/source/{asked.by['kind'].lower()}",
    }
