"""Names in the DNS, written by ExternalDNS: one for control planes, and one for each cluster that has load balancers.

All run in the management cluster. That of a cluster looks into it by the cluster's kubeconfig, and so no tenant has the
key, or says what ExternalDNS may do. A tenant chooses names and addresses by annotations: a name counts only as a whole
name below the cluster's own, since ExternalDNS puts its text into a record as it stands, and an address only if it is
one of the cluster's load balancers. The values are those of the chart (external-dns 1.21.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.region.monitors import API_GROUP, INTERVAL, name_rules
from components.render.region.operators import Operator, cluster_release
from components.render.workloads import RBAC, cluster_binding, service_account
from components.specs.base import Domain, Network
from components.specs.region.dns import DnsSpec
from components.specs.region.region import RegionSpec

CHART = "external-dns"
NAMESPACE = CHART
PODS = {"app.kubernetes.io/name": CHART}
"""Labels of the pods of each release."""
_KUBECONFIG = "/etc/external-dns/kubeconfig"
_INTERVAL = "5m"
_TTL = "60s"
_OWNER = "owner-%{record_type}."
"""How the record is called beside a name that says who wrote it: below the name, so that it is within its domain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDnsInput:
    """Names of one cluster's Services."""

    name: str
    cluster: str
    region: str
    dns: DnsSpec
    addresses: tuple[Network, ...]
    """Networks of the cluster's load balancers; a name of the cluster never leads anywhere else."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the one release, in the namespace of the cluster; nothing waits for it."""
        names = _Names(dns=self.dns, owner=f"{self.region}/{self.cluster}", domain=domain_of(self.cluster, self.dns))
        operator = Operator(chart=CHART, namespace=self.cluster, values=_inside(names, self), awaited=False)
        return (cluster_release(operator, self.cluster, protect=False),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What one ExternalDNS keeps."""

    dns: DnsSpec
    owner: str
    domain: Domain


def domain_of(cluster: str, dns: DnsSpec) -> Domain:
    """Return the domain that Services of ``cluster`` have names in."""
    return f"{cluster}.{dns.zone}"


def operators(region: RegionSpec) -> tuple[Operator, ...]:
    """Return what writes names of control planes; nothing where a region names no name server."""
    if region.dns is None or region.control_planes.domain is None:
        return ()
    names = _Names(dns=region.dns, owner=f"{region.region}/management", domain=region.control_planes.domain)
    values = _values(names, ("service",), [region.networks.control_plane_vips])
    return (Operator(chart=CHART, namespace=NAMESPACE, values=values, awaited=False),)


def render(region: RegionSpec) -> tuple[Manifest, ...]:
    """Return what the ExternalDNS of control planes may do, and what watches that one and those of clusters."""
    if not operators(region):
        return ()
    endpoint = {
        "port": "http",
        "interval": INTERVAL,
        "relabelings": [{"action": "replace", "targetLabel": "job", "replacement": CHART}],
    }
    spec = {
        "namespaceSelector": {"any": True},
        "selector": {"matchLabels": PODS},
        "podMetricsEndpoints": [endpoint],
    }
    return (
        *_rights(),
        manifest(API_GROUP, "PodMonitor", CHART, namespace=NAMESPACE, spec=spec),
        name_rules(CHART, NAMESPACE),
    )


def _rights() -> tuple[Manifest, ...]:
    """Return rights to Services and events alone: by its chart it could read all pods of the management cluster."""
    rules = [
        {"apiGroups": [""], "resources": ["services"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
    ]
    return (
        manifest(f"{RBAC}/v1", "ClusterRole", CHART, rules=rules),
        cluster_binding(CHART, role=CHART, subject=service_account(NAMESPACE, CHART)),
    )


def _inside(names: _Names, asked: ClusterDnsInput) -> dict[str, Any]:
    """Return the values of one that looks into a tenant's cluster, and has no rights where it runs."""
    values = _values(names, ("service", "ingress"), asked.addresses)
    volume = {"name": "kubeconfig", "secret": {"secretName": f"{asked.cluster}-kubeconfig"}}
    return {
        **values,
        "extraArgs": {**values["extraArgs"], "kubeconfig": f"{_KUBECONFIG}/value"},
        "extraVolumes": [volume],
        "extraVolumeMounts": [{"name": volume["name"], "mountPath": _KUBECONFIG, "readOnly": True}],
        "automountServiceAccountToken": False,
        "serviceAccount": {"automountServiceAccountToken": False},
    }


def _values(names: _Names, sources: Iterable[str], addresses: Iterable[Network]) -> dict[str, Any]:
    dns = names.dns
    return {
        "provider": {"name": "rfc2136"},
        "sources": list(sources),
        # An address that one tenant gives back is another's tomorrow: its name must not stay.
        "policy": "sync",
        "txtOwnerId": names.owner,
        "txtPrefix": _OWNER,
        "managedRecordTypes": ["A"],
        "interval": _INTERVAL,
        "triggerLoopOnEvent": True,
        "extraArgs": {
            "rfc2136-host": str(dns.server),
            "rfc2136-port": dns.port,
            "rfc2136-zone": dns.zone,
            "rfc2136-tsig-secret-alg": dns.key_algorithm.value,
            # What it cannot read, it cannot take away.
            "rfc2136-tsig-axfr": True,
            "rfc2136-min-ttl": _TTL,
            "txt-wildcard-replacement": "any",
            "regex-domain-filter": _whole_names(names.domain),
            "target-net-filter": [str(network) for network in addresses],
            "service-type-filter": "LoadBalancer",
            "events-emit": ["RecordReady", "RecordError"],
        },
        "env": [_from_key("KEYNAME", dns.key_secret, "keyname"), _from_key("SECRET", dns.key_secret, "secret")],
        "rbac": {"create": False},
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
    }


def _from_key(variable: str, secret: str, key: str) -> Mapping[str, Any]:
    name = f"EXTERNAL_DNS_RFC2136_TSIG_{variable}"
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}


def _whole_names(domain: Domain) -> str:
    """Return the pattern of all names in ``domain``, wild cards as well, and of nothing else that a text can hold."""
    escaped = domain.replace(".", r"\.")
    return rf"^(\*\.)?([a-z0-9-]+\.)*{escaped}$"
