"""Add-ons of a tenant cluster: one release per add-on, in dependency order.

Helm does not wait for pods. All add-ons are therefore installed before the first node joins, and their pods start when
nodes are ready.
"""

from collections.abc import Iterable, Iterator, Mapping

from components.render import labels as keys
from components.render.add_ons import metrics_writer
from components.render.add_ons.add_on_monitors import MONITORED, alerts, monitoring_of
from components.render.add_ons.add_on_values import GPU_OPERATOR, METALLB, VALUES, merged
from components.render.add_ons.cluster_facts import ClusterFacts
from components.render.add_ons.declared_hardware import declared_hardware, is_verified
from components.render.add_ons.load_balancers import LoadBalancers, pools
from components.render.health import quarantine
from components.render.health.node_tests import NodeTests
from components.render.manifest import Manifest, Rendered
from components.render.objects import manifest, namespace
from components.render.overrides import Override, overridden, reasons
from components.render.pools.gpu_sharing import configurations
from components.render.region.logs import collector, forwarder
from components.render.region.operators import Operator, sources, tenant_release
from components.render.workloads import kueue, serving, slurm_pool
from components.specs.add_ons.add_ons import AddOn, Capability
from components.specs.region.versions import Chart
from components.specs.struct import Struct, field, replace

_BUILT_IN = ("kube-system",)
"""Namespaces that exist in every cluster."""
_WITH_OBJECTS = (slurm_pool.CHART,)
"""Charts of add-ons without a capability whose releases are awaited, because objects of their CRDs follow."""
_AWAITED = (Capability.NETWORK, Capability.MONITORING, Capability.LOAD_BALANCERS, Capability.NODE_READINESS)
"""Capabilities whose releases are awaited: all pods require the capability, or objects of its CRDs follow."""
_GPUS_OF_VMS = "gpus-of-vms"
_OPERANDS = "nvidia.com/gpu.deploy.operands"
_GPU = {"vendor": {"op": "In", "value": ["10de"]}, "class": {"op": "In", "value": ["0300", "0302"]}}


class AddOnsInput(Struct):
    """Add-ons of one cluster."""

    name: str
    cluster: str
    add_ons: tuple[AddOn, ...]
    """Add-ons in installation order."""
    facts: ClusterFacts
    load_balancers: LoadBalancers
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Pinned chart releases of the cluster, by chart."""
    overrides: Mapping[str, tuple[Override, ...]] = field(default_factory=dict)
    """Values from the data, by add-on."""
    installed: Mapping[str, str] = field(default_factory=dict)
    """Namespaces of all charts in the cluster, those of other concepts included, by chart."""
    tests: NodeTests | None = None
    """Tests of the cluster's nodes, which start beside the rules for taints; None if no node is tested."""

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of one cluster's add-ons, in the order in which they are applied."""
        installed = tuple(operators(self.add_ons, self.facts, self.overrides))
        mixed = self.facts.vm_gpus and any(entry.chart == GPU_OPERATOR for entry in self.add_ons)
        verified = is_verified(self.add_ons, self.facts.hardware)
        awaited = (*_AWAITED, Capability.NODE_FEATURES) if mixed or verified else _AWAITED
        spaces = dict.fromkeys(entry.namespace for entry in self.add_ons if entry.namespace not in _BUILT_IN)
        return (
            *(namespace(space, cluster=self.cluster) for space in spaces),
            *(
                item
                for entry in self.add_ons
                if entry.chart == GPU_OPERATOR
                for item in configurations(self.cluster, entry.namespace, self.facts.gpu_sharing)
            ),
            *sources(installed, self.cluster, self.pins),
            *self._releases(installed, awaited),
            *(without_agents(self.cluster) if mixed else ()),
            *(self._declared_hardware() if verified else ()),
            *(
                item
                for entry in self.add_ons
                if entry.chart == METALLB
                for item in pools(self.cluster, entry.namespace, self.load_balancers)
            ),
            *(
                item
                for entry in self.add_ons
                if entry.chart == quarantine.CHART
                for item in quarantine.rules(self.cluster, entry.namespace, self.facts.checks, self.tests)
            ),
            *(
                item
                for entry in self.add_ons
                if entry.chart == collector.CHART
                for item in forwarder.render(
                    self.facts.logs, self.cluster, entry.namespace, system_pool=self.facts.system_pool
                )
            ),
            *alerts(self.facts, self.add_ons, self.installed),
        )

    def _releases(self, installed: tuple[Operator, ...], awaited: tuple[Capability, ...]) -> Iterator[Manifest]:
        """Yield the release of each add-on. The network is installed first and deleted last: hooks run in pods."""
        network = tuple(entry.name for entry in self.add_ons if entry.gives is Capability.NETWORK)
        for entry, operator in zip(self.add_ons, installed, strict=True):
            waits = entry.gives in awaited or self._has_objects(entry)
            release = tenant_release(operator, self.cluster, self.pins, awaited=waits)
            after = () if entry.name in network else tuple((release.kind, name) for name in network)
            yield replace(release, after=after)

    def _has_objects(self, entry: AddOn) -> bool:
        """Return whether objects of the kinds of ``entry`` may follow: of queues, or of a Slurm cluster."""
        return entry.chart in _WITH_OBJECTS or (entry.chart == kueue.CHART and self.facts.queues is not None)

    def _declared_hardware(self) -> Iterator[Manifest]:
        facts = self.facts
        return declared_hardware(self.cluster, facts.hardware, facts.unlike_types, autoscaling=facts.autoscaling)


def needs_of(entry: AddOn, add_ons: Iterable[AddOn]) -> tuple[str, ...]:
    """Return the names of the add-ons that are installed before ``entry``: its needs, and LeaderWorkerSet before Kueue.

    Kueue looks for the kind of LeaderWorkerSets when it starts, and later in intervals of up to two minutes
    (KUEUE:pkg/controller/jobframework/setup.go, ``waitForAPI``). Until it finds the kind, it treats the StatefulSets of
    a LeaderWorkerSet as jobs of their own, and the group never runs as a whole.
    """
    if entry.chart != kueue.CHART:
        return entry.needs
    first = (item.name for item in add_ons if item.chart == serving.CHART and entry.name not in item.needs)
    return tuple(dict.fromkeys((*entry.needs, *first)))


def operators(
    add_ons: tuple[AddOn, ...], facts: ClusterFacts, overrides: Mapping[str, tuple[Override, ...]]
) -> Iterator[Operator]:
    """Yield the operator of each of ``add_ons``; charts with monitors depend on the monitoring add-on."""
    monitoring = monitoring_of(add_ons)
    for entry in add_ons:
        values = VALUES[entry.chart](facts) if entry.chart in VALUES else {}
        needs = needs_of(entry, add_ons)
        if monitoring and entry.chart in MONITORED:
            values = {**values, **MONITORED[entry.chart](monitoring.namespace)}
            needs = tuple(dict.fromkeys((*needs, monitoring.name)))
        of_add_on = overrides.get(entry.name, ())
        yield Operator(
            chart=entry.chart,
            namespace=entry.namespace,
            name=entry.name,
            values=overridden(values, of_add_on),
            values_from=(
                *metrics_writer.delivered(facts.writer, entry.chart, facts.name),
                *collector.delivered(facts.logs, entry.chart),
            ),
            depends_on=needs,
            merged=merged(entry.chart, facts),
            annotations={keys.OVERRIDDEN: reasons(of_add_on)} if of_add_on else {},
        )


def without_agents(cluster: str) -> Iterator[Manifest]:
    """Yield the rule that labels the nodes of ``cluster`` with GPUs for VMs, by hardware and kernel modules.

    NVIDIA's operator starts its agents on all nodes with an NVIDIA GPU. On a node whose image binds GPUs to vfio-pci,
    they wait forever for a driver. Node Feature Discovery therefore labels nodes on which the kernel module of the
    driver is not loaded, and the operator starts no agents there (GPUOP:controllers/state_manager.go,
    hasOperandsDisabled). It may write labels of any domain that is not of Kubernetes
    (NFD:pkg/apis/nfd/validate/validate.go).
    """
    rule = {
        "name": "GPUs without the driver of NVIDIA",
        "labels": {_OPERANDS: "false"},
        "matchFeatures": [
            {"feature": "pci.device", "matchExpressions": _GPU},
            {"feature": "kernel.loadedmodule", "matchExpressions": {"nvidia": {"op": "DoesNotExist"}}},
        ],
    }
    yield manifest("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", _GPUS_OF_VMS, cluster=cluster, spec={"rules": [rule]})
