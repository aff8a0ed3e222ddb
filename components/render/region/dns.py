"""DNS records by ExternalDNS: one instance for control planes, and one instance per cluster with load balancers.

All instances run in the management cluster. The instance of a cluster reads Services through the cluster's kubeconfig,
so that no tenant has the TSIG key or controls the permissions of ExternalDNS. Tenants set names and addresses in
annotations. A name is accepted only if it is entirely below the cluster's domain, since ExternalDNS copies the name
into a record unchanged. An address is accepted only if it belongs to the cluster's load balancers. The values are for
the chart external-dns 1.21.1.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.platform_pods import RBAC, cluster_binding, service_account
from components.render.region.monitors import API_GROUP, INTERVAL, name_rules
from components.render.region.operators import Operator, cluster_release
from components.specs.base import Domain, Network
from components.specs.fleet.fleet import FleetDnsSpec
from components.specs.region.dns import DnsSpec
from components.specs.region.region import RegionSpec
from components.specs.struct import Struct

CHART = "external-dns"
NAMESPACE = CHART
PODS = {"app.kubernetes.io/name": CHART}
"""Labels of the pods of each release."""
_KUBECONFIG = "/etc/external-dns/kubeconfig"
_INTERVAL = "5m"
_TTL = "60s"
_OWNER = "owner-%{record_type}."
"""Prefix of the ownership record of a name. The record is below the name, so that it is within the same domain."""


class ClusterDnsInput(Struct):
    """DNS names of one cluster's Services."""

    name: str
    cluster: str
    region: str
    dns: DnsSpec
    addresses: tuple[Network, ...]
    """Networks of the cluster's load balancers. Names of the cluster resolve only to addresses in these networks."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the release, in the namespace of the cluster. It is not awaited."""
        names = _Names(dns=self.dns, owner=f"{self.region}/{self.cluster}", domain=domain_of(self.cluster, self.dns))
        operator = Operator(chart=CHART, namespace=self.cluster, values=_inside(names, self), awaited=False)
        return (cluster_release(operator, self.cluster, protect=False),)


class _Names(Struct):
    """Scope of one ExternalDNS instance."""

    dns: DnsSpec
    owner: str
    domain: Domain


def domain_of(cluster: str, dns: DnsSpec) -> Domain:
    """Return the domain for names of Services of ``cluster``."""
    return f"{cluster}.{dns.zone}"


def operators(region: RegionSpec) -> tuple[Operator, ...]:
    """Return ExternalDNS for control planes; nothing if the region has no name server or no control plane domain."""
    if region.dns is None or region.control_planes.domain is None:
        return ()
    names = _Names(dns=region.dns, owner=f"{region.region}/management", domain=region.control_planes.domain)
    values = _values(names, ("service",), [region.networks.control_plane_vips])
    return (Operator(chart=CHART, namespace=NAMESPACE, values=values, awaited=False),)


def render(region: RegionSpec) -> tuple[Manifest, ...]:
    """Return the role of ExternalDNS for control planes, and the monitoring of all instances."""
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
        *_role(),
        manifest(API_GROUP, "PodMonitor", CHART, namespace=NAMESPACE, spec=spec),
        name_rules(CHART, NAMESPACE, region.thresholds),
    )


def _role() -> tuple[Manifest, ...]:
    """Return a role only for Services and events. The chart's role could read all pods of the management cluster."""
    rules = [
        {"apiGroups": [""], "resources": ["services"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
    ]
    return (
        manifest(f"{RBAC}/v1", "ClusterRole", CHART, rules=rules),
        cluster_binding(CHART, role=CHART, subject=service_account(NAMESPACE, CHART)),
    )


def _inside(names: _Names, dns: ClusterDnsInput) -> dict[str, Any]:
    """Return the values of an instance for a tenant's cluster, without permissions in the management cluster."""
    values = _values(names, ("service", "ingress"), dns.addresses)
    volume = {"name": "kubeconfig", "secret": {"secretName": f"{dns.cluster}-kubeconfig"}}
    return {
        **values,
        "extraArgs": {**values["extraArgs"], "kubeconfig": f"{_KUBECONFIG}/value"},
        "extraVolumes": [volume],
        "extraVolumeMounts": [{"name": volume["name"], "mountPath": _KUBECONFIG, "readOnly": True}],
        "automountServiceAccountToken": False,
        "serviceAccount": {"automountServiceAccountToken": False},
    }


def _values(names: _Names, sources: Iterable[str], addresses: Iterable[Network]) -> dict[str, Any]:
    flags = {
        "txt-wildcard-replacement": "any",
        "regex-domain-filter": _name_pattern(names.domain),
        "target-net-filter": [str(network) for network in addresses],
        "service-type-filter": "LoadBalancer",
    }
    return chart_values(names.dns, sources, owner=names.owner, prefix=_OWNER, types=["A"], flags=flags)


def chart_values(
    dns: DnsSpec | FleetDnsSpec,
    sources: Iterable[str],
    *,
    owner: str,
    prefix: str,
    types: Iterable[str],
    flags: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the values of an instance that writes a zone.

    Args:
        dns: zone, name server and key.
        sources: kinds of objects with names, as upstream names them.
        owner: owner of the written names.
        prefix: prefix of ownership records.
        types: types of the written records.
        flags: further flags.
    """
    return {
        "provider": {"name": "rfc2136"},
        "sources": list(sources),
        # The name of a released address must be deleted, because another tenant can get the address.
        "policy": "sync",
        "txtOwnerId": owner,
        "txtPrefix": prefix,
        "managedRecordTypes": list(types),
        "interval": _INTERVAL,
        "triggerLoopOnEvent": True,
        "extraArgs": {
            "rfc2136-host": str(dns.server),
            "rfc2136-port": dns.port,
            "rfc2136-zone": dns.zone,
            "rfc2136-tsig-secret-alg": dns.key_algorithm.value,
            # Without zone transfers, ExternalDNS can neither read nor delete records.
            "rfc2136-tsig-axfr": True,
            "rfc2136-min-ttl": _TTL,
            **flags,
            "events-emit": ["RecordReady", "RecordError"],
        },
        "env": [
            _tsig_variable("KEYNAME", dns.key_secret, "keyname"),
            _tsig_variable("SECRET", dns.key_secret, "secret"),
        ],
        "rbac": {"create": False},
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
    }


def _tsig_variable(variable: str, secret: str, key: str) -> Mapping[str, Any]:
    name = f"EXTERNAL_DNS_RFC2136_TSIG_{variable}"
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}


def _name_pattern(domain: Domain) -> str:
    """Return the pattern that matches exactly ``domain`` and valid names below it, including wildcards."""
    escaped = domain.replace(".", r"\.")
    return rf"^(\*\.)?([a-z0-9-]+\.)*{escaped}$"
