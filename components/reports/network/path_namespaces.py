"""Decisions of NetworkPolicies in team namespaces about a connection between one of their pods and another end."""

from collections.abc import Iterator

from components.inputs.cluster_namespaces import has_keys
from components.lookups.pools import clusters
from components.render.control_planes.control_plane import API_PORT
from components.render.network.packets import ALL, Ports
from components.reports.network.endpoints import Endpoint
from components.reports.network.path_steps import Verdict
from components.specs.control_planes.cluster_namespaces import (
    NamespaceEgress,
    NamespaceIngress,
    NamespaceIsolation,
    NamespaceSpec,
)
from components.specs.environment import Environment
from components.specs.network.security_groups import Protocol


class NamespacePolicies:
    """NetworkPolicies of all team namespaces of a region. Namespaces without policies allow all connections."""

    def __init__(self, environment: Environment) -> None:
        networks = environment.region.networks
        self._hidden, self._storage = networks.closed_networks, networks.storage
        self._clusters = {placed.cluster.name: placed for placed in clusters(environment)}
        self._specs = {
            (name, spec.name): spec for name, placed in self._clusters.items() for spec in placed.cluster.namespaces
        }

    def leaves(self, source: Endpoint, target: Endpoint, requested: Ports) -> Iterator[Verdict]:
        """Yield the egress decision of the NetworkPolicy in the namespace of the source."""
        spec = self._closed(source)
        if spec is None:
            return
        if target.where == "api" and target.cluster == source.cluster:
            passes = requested in {ALL, Ports(protocol=Protocol.TCP, far=API_PORT)}
            yield _verdict(spec, f"permits egress to the cluster's API at port {API_PORT}", passes=passes)
        elif target.vpc == source.vpc:
            other = self._specs.get((target.cluster or "", target.namespace or ""))
            yield self._among(spec, source, target, None if other is None else other.admits)
        elif target.address.subnet_of(self._storage) and has_keys(self._clusters[source.cluster or ""], spec.name):
            yield _verdict(spec, f"permits egress to {self._storage}, because it has keys of a bucket", passes=True)
        else:
            yield self._outside(spec, target, "egress", is_open=spec.egress is NamespaceEgress.PUBLIC)

    def enters(self, source: Endpoint, target: Endpoint) -> Iterator[Verdict]:
        """Yield the ingress decision of the NetworkPolicy in the namespace of the target."""
        spec = self._closed(target)
        if spec is None:
            return
        if target.vpc == source.vpc:
            yield self._among(spec, source, target, spec.admits)
        else:
            yield self._outside(spec, source, "ingress", is_open=spec.ingress is NamespaceIngress.PUBLIC)

    def _closed(self, end: Endpoint) -> NamespaceSpec | None:
        spec = self._specs.get((end.cluster or "", end.namespace or ""))
        return spec if spec and spec.isolation is NamespaceIsolation.DEFAULT_DENY else None

    def _among(
        self, spec: NamespaceSpec, source: Endpoint, target: Endpoint, admitted: tuple[str, ...] | None
    ) -> Verdict:
        """Return the decision between two ends of one VPC; ``admitted`` lists the namespaces that the target admits."""
        if source.cluster and target.cluster and source.cluster != target.cluster:
            return _verdict(spec, "pods of another cluster, which policies cannot select by namespace", passes=False)
        if source.namespace is not None and source.namespace == target.namespace:
            return _verdict(spec, "pods of one namespace reach each other", passes=True)
        if target.where == "hosts" or source.where == "hosts":
            return _verdict(spec, "only the node of the pod reaches it", passes=False)
        if source.namespace is not None and source.namespace in (admitted or ()):
            return _verdict(spec, f"{target.namespace} admits {source.namespace}", passes=True)
        whom = f"{target.namespace} does not admit it" if target.namespace else "no namespace admits it"
        return _verdict(spec, whom, passes=False)

    def _outside(self, spec: NamespaceSpec, far: Endpoint, key: str, *, is_open: bool) -> Verdict:
        hidden = next((network for network in self._hidden if far.address.subnet_of(network)), None)
        if hidden is not None:
            return _verdict(spec, f"{hidden}, unreachable for tenants", passes=False)
        return _verdict(spec, f"{key}: {'public' if is_open else 'none'}", passes=is_open)


def _verdict(spec: NamespaceSpec, rule: str, *, passes: bool) -> Verdict:
    return Verdict(f"policy of namespace {spec.name}", rule, passes)
