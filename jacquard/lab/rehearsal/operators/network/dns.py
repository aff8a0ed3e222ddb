"""Simulated ExternalDNS: writes the names of Services, Ingresses and DNSEndpoints to a zone.

The zone is a file of the region; a name is deleted with its object. Each release follows its flags (external-dns
0.21.0) when its pods can start, with the key and the kubeconfig of its source cluster. A release records the owner of
each name, and changes no names of other owners. An event reports the record on the requesting object. No DNS message is
sent. The simulation runs only for releases of another version than the local program; the others run the real
ExternalDNS.
"""

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
"""Zone file with the addresses and the owner of each name."""
_ANNOTATION = "external-dns.alpha.kubernetes.io/"
_RESPONSIBLE = (None, "dns-controller")
_KUBECONFIG = "-kubeconfig"
_ENOUGH = 1024
"""Maximum length of an event's note in characters."""

Hosted = Callable[[str], View | None]
Zone = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Request:
    """A requested name, its addresses, and the requesting object."""

    name: str
    addresses: tuple[str, ...]
    by: Object
    kind: str = "A"
    """Type of the record."""


def reconcile(folder: Path, management: View, hosted: Hosted) -> None:
    """Update the zone in a region's folder.

    Args:
        folder: The folder of the region.
        management: The cluster with the releases.
        hosted: Returns a tenant's cluster by name, or None if it does not respond.
    """
    path = folder / NAMES
    zone: Zone = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    before = json.dumps(zone, sort_keys=True)
    for release in installed(management, CHART):
        values = dig(release, "spec", "values") or {}
        source = None if _is_run(management, release) else _source(management, release, values, hosted)
        if source is not None:
            _update(zone, values, source)
    if json.dumps(zone, sort_keys=True) != before:
        path.write_text(json.dumps(zone, indent=1, sort_keys=True), encoding="utf-8")


def _is_run(management: View, release: Object) -> bool:
    """Return whether the pods of a release run the real program."""
    metadata = release["metadata"]
    labels = {FLUX_NAME: metadata["name"], FLUX_NAMESPACE: metadata["namespace"]}.items()
    for deployment in management.all("apps/v1", "Deployment"):
        if labels <= (deployment["metadata"].get("labels") or {}).items() and is_run(deployment, PROGRAM):
            return True
    return False


def _source(management: View, release: Object, values: Mapping[str, Any], hosted: Hosted) -> View | None:
    """Return the source cluster of a release; None if its pod cannot start or the cluster does not respond."""
    place = dig(release, "spec", "targetNamespace")
    for variable in values.get("env", ()):
        reference = dig(variable, "valueFrom", "secretKeyRef") or {}
        if not dig(management.find("v1", "Secret", reference.get("name"), place), "data", reference.get("key", "")):
            return None
    secrets = [dig(volume, "secret", "secretName") for volume in values.get("extraVolumes", ())]
    if any(management.find("v1", "Secret", name, place) is None for name in secrets):
        return None
    if "kubeconfig" not in values["extraArgs"]:
        return management
    return next((hosted(name.removesuffix(_KUBECONFIG)) for name in secrets if name.endswith(_KUBECONFIG)), None)


def _update(zone: Zone, values: Mapping[str, Any], view: View) -> None:
    """Write the requested names of a release, and delete its names that are no longer requested."""
    owner, wanted = values["txtOwnerId"], {request.name: request for request in _requests(values, view)}
    for name, request in wanted.items():
        record = {"addresses": list(request.addresses), "owner": owner}
        previous = zone.get(name)
        if previous != record and (previous is None or previous["owner"] == owner):
            zone[name] = record
            view.create(_event(request, owner, "Updated" if previous else "Created"))
    if values["policy"] == "sync":
        for name in [name for name, record in zone.items() if record["owner"] == owner and name not in wanted]:
            del zone[name]


def _requests(values: Mapping[str, Any], view: View) -> Iterator[_Request]:
    """Yield the requested names that pass the filters, with the addresses that pass the filters."""
    flags = values["extraArgs"]
    if "crd" in values["sources"]:
        yield from _endpoints(values, view)
        return
    names, networks = re.compile(flags["regex-domain-filter"]), [ip_network(net) for net in flags["target-net-filter"]]
    for obj in _sources(values, view):
        annotations = obj["metadata"].get("annotations") or {}
        if annotations.get(f"{_ANNOTATION}controller") not in _RESPONSIBLE:
            continue
        ingress = dig(obj, "status", "loadBalancer", "ingress") or ()
        explicit = _split(annotations.get(f"{_ANNOTATION}target", ""))
        targets = explicit or [entry["ip"] for entry in ingress if "ip" in entry]
        addresses = tuple(sorted(target for target in targets if _is_within(target, networks)))
        hosts = [rule["host"] for rule in dig(obj, "spec", "rules") or () if rule.get("host")]
        for name in dict.fromkeys([*_split(annotations.get(f"{_ANNOTATION}hostname", "")), *hosts]):
            if addresses and names.search(name):
                yield _Request(name, addresses, obj)


def _endpoints(values: Mapping[str, Any], view: View) -> Iterator[_Request]:
    """Yield the records of DNSEndpoints in the namespace of the release, with addresses or name servers as targets."""
    [zone] = values["domainFilters"]
    for obj in view.all("externaldns.k8s.io/v1alpha1", "DNSEndpoint"):
        for record in obj["spec"]["endpoints"] if obj["metadata"]["namespace"] == CHART else ():
            if f".{record['dnsName']}".endswith(f".{zone}") and record["recordType"] in values["managedRecordTypes"]:
                yield _Request(record["dnsName"], tuple(sorted(record["targets"])), obj, record["recordType"])


def _sources(values: Mapping[str, Any], view: View) -> Iterator[Object]:
    if "service" in values["sources"]:
        kind = values["extraArgs"]["service-type-filter"]
        yield from (service for service in view.all("v1", "Service") if dig(service, "spec", "type") == kind)
    if "ingress" in values["sources"]:
        yield from view.all("networking.k8s.io/v1", "Ingress")


def _split(text: str) -> list[str]:
    """Return the entries of an annotation as parsed upstream: all spaces are removed, other characters are kept."""
    return [part for part in text.replace(" ", "").strip().split(",") if part]


def _is_within(target: str, networks: list[Any]) -> bool:
    try:
        address = ip_address(target)
    except ValueError:
        return False
    return any(address in network for network in networks)


def _event(request: _Request, owner: str, action: str) -> Object:
    metadata, moment = request.by["metadata"], time.time_ns()
    place = {"namespace": metadata["namespace"], "name": metadata["name"]}
    about = {"apiVersion": request.by["apiVersion"], "kind": request.by["kind"], "uid": metadata["uid"], **place}
    record = f"record:{request.name},owner:{owner},type:{request.kind}"
    note = f"(external-dns) {record},ttl:0,targets:{','.join(request.addresses)}"
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
        "reportingInstance": f"external-dns/source/{request.by['kind'].lower()}",
    }
