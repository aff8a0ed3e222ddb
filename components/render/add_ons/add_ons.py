"""Add-ons of a tenant cluster: a release each, in the order of what they need.

Helm does not wait for their pods, so that all are installed before the first node is there; the pods come with nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from components.render import labels as keys
from components.render.add_ons.add_on_monitors import MONITORED, alerts, monitoring_of
from components.render.add_ons.add_on_values import GPU_OPERATOR, METALLB, VALUES
from components.render.add_ons.cluster_facts import ClusterFacts
from components.render.add_ons.load_balancers import LoadBalancers, pools
from components.render.manifest import Manifest
from components.render.objects import namespace
from components.render.overrides import Override, overridden, reasons
from components.render.pools.gpu_sharing import configurations
from components.render.region.operators import Operator, sources, tenant_release
from components.specs.add_ons.add_ons import AddOn, Gift
from components.specs.region.versions import Chart

_THERE = ("kube-system",)
"""Namespaces that each cluster has anyway."""
_AWAITED = (Gift.NETWORK, Gift.MONITORING, Gift.LOAD_BALANCERS)
"""What nothing works without, and what objects of its own kinds follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOnsInput:
    """The add-ons of one cluster."""

    name: str
    cluster: str
    add_ons: tuple[AddOn, ...]
    """In the order they are installed."""
    facts: ClusterFacts
    load_balancers: LoadBalancers
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Releases of charts that are pinned for the cluster, by chart."""
    overrides: Mapping[str, tuple[Override, ...]] = field(default_factory=dict)
    """Values that the data set, by add-on."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the objects of one cluster's add-ons, in the order they are applied."""
        installed = tuple(operators(self.add_ons, self.facts, self.overrides))
        spaces = dict.fromkeys(entry.namespace for entry in self.add_ons if entry.namespace not in _THERE)
        return (
            *(namespace(space, cluster=self.cluster) for space in spaces),
            *(
                item
                for entry in self.add_ons
                if entry.chart == GPU_OPERATOR
                for item in configurations(self.cluster, entry.namespace, self.facts.gpu_sharing)
            ),
            *sources(installed, self.cluster, self.pins),
            *(
                tenant_release(operator, self.cluster, self.pins, awaited=entry.gives in _AWAITED)
                for entry, operator in zip(self.add_ons, installed, strict=True)
            ),
            *(
                item
                for entry in self.add_ons
                if entry.chart == METALLB
                for item in pools(self.cluster, entry.namespace, self.load_balancers)
            ),
            *alerts(self.cluster, self.add_ons, gpus=self.facts.gpus),
        )


def operators(
    add_ons: tuple[AddOn, ...], facts: ClusterFacts, overrides: Mapping[str, tuple[Override, ...]]
) -> Iterator[Operator]:
    """Yield what each of ``add_ons`` installs; what brings monitors waits for their kinds."""
    monitoring = monitoring_of(add_ons)
    for entry in add_ons:
        values = VALUES[entry.chart](facts) if entry.chart in VALUES else {}
        needs = entry.needs
        if monitoring and entry.chart in MONITORED:
            values = {**values, **MONITORED[entry.chart](monitoring.namespace)}
            needs = tuple(dict.fromkeys((*needs, monitoring.name)))
        set_here = overrides.get(entry.name, ())
        yield Operator(
            chart=entry.chart,
            namespace=entry.namespace,
            name=entry.name,
            values=overridden(values, set_here),
            depends_on=needs,
            annotations={keys.OVERRIDDEN: reasons(set_here)} if set_here else {},
        )
