"""Cluster autoscaler of one tenant cluster, in the namespace of the control plane.

It runs in the management cluster, so that no tenant has access to Machines, and reads pods and nodes of the cluster
through its kubeconfig. Facts about cluster-autoscaler 1.35 (CA) and chart cluster-autoscaler 9.59 (CHART):

- It scales a MachineDeployment with annotations for the bounds, and stops if the infrastructure templates cannot be
  listed: it waits for their cache without a limit (CA:cloudprovider/clusterapi/clusterapi_controller.go). The role of
  the chart has no access to templates (CHART:templates/role.yaml).
- Before a group has its first node, it knows only what annotations say of labels and taints of nodes, and schedules
  other pods on them otherwise (CA:cloudprovider/clusterapi/clusterapi_unstructured.go, Labels and Taints).
- A node that is not registered after ``max-node-provision-time``, by default 15 minutes, counts as failed, and the
  group shrinks again. A host needs longer. Groups therefore have their startup timeout as an annotation
  (CA:cloudprovider/clusterapi/clusterapi_nodegroup.go, GetOptions).
- A registered node with a startup taint is upcoming for 15 minutes by default, and then counts as unready: the pending
  pods for which it was added cause another node, and a cluster with many such nodes is no longer scaled
  (CA:clusterstate/clusterstate.go, updateReadinessStats, GetUpcomingNodes and IsClusterHealthy). A burn-in takes hours.
- Nodes of a group are simulated by the group's first ready node, with its taints except those of startup and status
  (CA:processors/nodeinfosprovider/mixed_nodeinfos_processor.go; CA:utils/taints/taints.go, SanitizeTaints). Without
  flags for their keys, one quarantined node could stop the growth of its group.
- A cluster has at most 320,000 CPUs and 6,400,000 GiB by default (CA:config/const.go; CA:resourcequotas/tracker.go),
  which 1,428 nodes with 224 CPUs have. The bounds of pools limit a cluster, so no other limit is needed.
- GPUs count as use of a node only if the node has a label for its accelerator (CA:FAQ.md,
  scale-down-gpu-utilization-threshold). A job with eight GPUs and few CPUs would otherwise be an idle node.
- By default, unready nodes are removed. Health checks reboot and replace such nodes, so this is disabled.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.add_ons.declared_hardware import UNLIKE
from components.render.backends import BARE_METAL
from components.render.health.quarantine import BURN_IN, EVICTION, QUARANTINE
from components.render.manifest import Manifest
from components.render.objects import SERVICES_PRIORITY, given
from components.render.platform_pods import HARDENED
from components.render.pools.gpu_sharing import offered
from components.render.region.monitors import INTERVAL, Audience, alert, prometheus_rule, relabelled
from components.render.region.operators import Operator, cluster_release
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.instance_types import InstanceType
from components.specs.locks import GroupAllocation
from components.specs.pools.intents import NodeIntent
from components.specs.pools.node_pool import NodePoolSpec, ScaleDown
from components.specs.struct import Struct

CHART = "cluster-autoscaler"
PODS = {"app.kubernetes.io/name": CHART}
"""Labels of the pods of each release."""
_GROUP = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io"
"""Prefix of annotations with the capacity of a node, which the cluster autoscaler reads while a group has no nodes."""
_OPTIONS = "cluster.x-k8s.io/autoscaling-options"
"""Prefix of annotations with the options of the cluster autoscaler for one group."""
_UNUSED = "0.001"
"""Share of a node in use, below which the autoscaler may remove it: any job uses more."""
_STARTUP_TAINTS = (BURN_IN["key"], "node.cilium.io/agent-not-ready")
"""Taints that new nodes lose by themselves: an empty group has none of them."""
_STATUS_TAINTS = (QUARANTINE["key"], EVICTION["key"], UNLIKE)
"""Taints of single nodes with faults, which new nodes of their group do not have."""
_UNLIMITED = f"0:{2**32}"
"""Range of the cluster's CPUs or GiB; the maximum in bytes is within 64 bits."""
_USER = 65534
_PENDING = "60m"


class ClusterAutoscalerInput(Struct):
    """Autoscaler of one cluster with autoscaling pools."""

    name: str
    cluster: str
    tenant: str
    bare_metal: BareMetalBackend

    def render(self) -> tuple[Manifest, ...]:
        """Return the release, in the namespace of the cluster, and its alerts. The release is not awaited."""
        operator = Operator(chart=CHART, namespace=self.cluster, values=self._values(), awaited=False)
        labels = {keys.TENANT: self.tenant, keys.CLUSTER: self.cluster}
        rules = prometheus_rule(
            f"{self.cluster}-autoscaler",
            "autoscaler",
            list(_alerts(self.cluster)),
            {"cluster": self.cluster, "tenant": self.tenant},
            namespace=self.cluster,
            labels=labels,
        )
        return (cluster_release(operator, self.cluster, protect=False), rules)

    def _values(self) -> dict[str, Any]:
        # The chart removes the underscore and what follows, so that a flag can be repeated.
        taints = {
            f"{flag}_{number}": key
            for flag, listed in (("startup-taint", _STARTUP_TAINTS), ("status-taint", _STATUS_TAINTS))
            for number, key in enumerate(listed)
        }
        return {
            "nameOverride": CHART,
            "cloudProvider": "clusterapi",
            "clusterAPIMode": "kubeconfig-incluster",
            "clusterAPIKubeconfigSecret": f"{self.cluster}-kubeconfig",
            "autoDiscovery": {"namespace": self.cluster, "clusterName": self.cluster},
            "rbac": {"clusterScoped": False, "additionalRules": [self._templates()]},
            "extraArgs": {
                "v": 2,
                "cores-total": _UNLIMITED,
                "memory-total": _UNLIMITED,
                # Bounds that are raised in the data otherwise apply only when pods are pending.
                "enforce-node-group-min-size": True,
                "ignore-daemonsets-utilization": True,
                "scale-down-unready-enabled": False,
                **taints,
            },
            "priorityClassName": SERVICES_PRIORITY,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": _USER,
                "runAsGroup": _USER,
                "fsGroup": _USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containerSecurityContext": dict(HARDENED),
            "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"memory": "4Gi"}},
            "serviceMonitor": {
                "enabled": True,
                "namespace": self.cluster,
                "interval": INTERVAL,
                "relabelings": relabelled(self.cluster, CHART),
            },
        }

    def _templates(self) -> dict[str, Any]:
        """Return the rule of a role that permits reading the templates of hosts."""
        version, kind = BARE_METAL[self.bare_metal].machine_template
        group, resource = version.partition("/")[0], f"{kind.lower()}s"
        return {"apiGroups": [group], "resources": [resource], "verbs": ["get", "list", "watch"]}


def group_options(
    pool: NodePoolSpec,
    kind: InstanceType,
    size: GroupAllocation,
    intent: NodeIntent,
    labels: Mapping[str, str],
    startup_seconds: int,
    burn_in_seconds: int,
) -> dict[str, str]:
    """Return the annotations of a rollout group's MachineDeployment: bounds, options, and properties of a node.

    Args:
        pool: pool with autoscaling.
        kind: instance type of its nodes.
        size: size of the group.
        intent: pinned configuration of the group's nodes.
        labels: labels that Cluster API copies to the nodes.
        startup_seconds: time after which a new node has failed, including its time in queues.
        burn_in_seconds: maximum duration of the burn-in of a registered node; 0 without the taint of a burn-in.
    """
    resource, count = offered(kind.gpu, intent.gpu_sharing) if kind.gpu else ("", 0)
    gpu = {"gpu-type": resource, "gpu-count": str(count)} if count else {}
    every = {**labels, **({keys.ACCELERATOR: kind.name} if kind.gpu else {})}
    capacity = {
        "cpu": str(kind.cpus),
        "memory": kind.memory,
        "maxPods": str(intent.max_pods),
        **gpu,
        "labels": ",".join(f"{key}={value}" for key, value in sorted(every.items())),
        **given(taints=",".join(f"{taint.key}={taint.value or ''}:{taint.effect.value}" for taint in pool.taints)),
    }
    idle_only = pool.scale_down is ScaleDown.IDLE_ONLY
    used = ("scaledownutilizationthreshold", "scaledowngpuutilizationthreshold") if idle_only else ()
    ready = pool.health.node_startup_timeout_seconds + burn_in_seconds
    options = {
        "maxnodeprovisiontime": f"{startup_seconds}s",
        **given(maxnodestartuptime=f"{ready}s" if burn_in_seconds else None),
        **dict.fromkeys(used, _UNUSED),
    }
    return {
        f"{_GROUP}-min-size": str(size.min_nodes or 0),
        f"{_GROUP}-max-size": str(size.most_nodes),
        **{f"{_OPTIONS}-{name}": value for name, value in options.items()},
        **{f"{_CAPACITY}/{name}": value for name, value in capacity.items()},
    }


def _alerts(cluster: str) -> Iterator[dict[str, Any]]:
    of = f'job="{CHART}",cluster="{cluster}"'
    yield alert(
        "AutoscalerDown",
        "warning",
        f"absent(up{{{of}}} == 1)",
        "The cluster autoscaler is down: the sizes of the cluster's autoscaling pools do not change.",
    )
    yield alert(
        "PodsNotScheduled",
        "warning",
        f"cluster_autoscaler_unschedulable_pods_count{{{of}}} > 0",
        "Pods have been pending for an hour although pools may grow: pools are at max_nodes, or no pool fits the pods.",
        audience=Audience.TENANT,
        hold=_PENDING,
    )
