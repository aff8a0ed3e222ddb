"""Endpoints of models in one tenant cluster: Service, network access, and the base of the tenant's LeaderWorkerSet.

The tenant owns the LeaderWorkerSet, with image, command and version of its model server. Its base has the fields that
follow from the data of the cluster: placement, queue, priority, GPUs and volumes.

Facts about LeaderWorkerSet 0.9.0 (LWS):

- The controller creates a headless Service with the name of the LeaderWorkerSet, unless a Service of this name exists
  (LWS:pkg/utils/controller/controller_utils.go). The Service of an endpoint therefore has another name.
- The leader of each group has worker index 0 (LWS:pkg/webhooks/pod_webhook.go), so a selector finds all leaders.
- With an exclusive topology, the workers of a group are created once its leader has a node, with the domain of this
  node as node selector, and leaders of other groups in the namespace avoid the domain
  (LWS:pkg/controllers/pod_controller.go). Kueue instead assigns a node to each pod without such affinities
  (KUEUE:pkg/cache/scheduler/tas_flavor_snapshot.go). In a queue, pods therefore have Kueue's annotation only.
- If a container of a group restarts, all pods of the group are deleted and created again (RecreateGroupOnPodRestart,
  the default): processes of other nodes cannot continue without it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from components.render import labels as keys
from components.render.control_planes.control_plane import HOST_NAME
from components.render.manifest import Json, Manifest
from components.render.network.network_peers import anywhere, incoming
from components.render.network.port_functions import NETWORKS
from components.render.objects import given, manifest
from components.render.platform_pods import UNPRIVILEGED
from components.render.region.monitors import Audience, alert
from components.render.vms.vm_placement import tolerating
from components.render.workloads.queues import QUEUE
from components.specs.add_ons.add_ons import AddOn
from components.specs.base import Network
from components.specs.pools.node_pool import TaintSpec
from components.specs.struct import Struct
from components.specs.workloads.serving import EndpointSpec, Exposure, ModelCacheSpec, ServingSpec

CHART = "lws"
"""Chart of the controller."""
GROUP = "leaderworkerset.x-k8s.io/v1"
"""API version of LeaderWorkerSets."""
SET_LABEL, INDEX_LABEL = "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/worker-index"
"""Labels of a pod: its LeaderWorkerSet, and its index in the group (LWS:api/leaderworkerset/v1)."""
EXCLUSIVE = "leaderworkerset.sigs.k8s.io/exclusive-topology"
"""Annotation of a LeaderWorkerSet: label of nodes whose value is one domain, which one group uses."""
TOGETHER = "kueue.x-k8s.io/podset-required-topology"
"""Annotation of a pod template: label of nodes whose value is one domain, for all pods of a workload."""
QUEUE_LABEL, CLASS_LABEL = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
CONTAINER = "server"
"""Name of the container in the base, which the tenant completes."""
BASE = "leaderworkerset.yaml"
"""Key of the base in the ConfigMap."""
_STARTING = "30m"
"""Longer than a group needs to be scheduled, to load the weights of a large model, and to become ready."""
_CACHE, _SHARED_MEMORY = "models", "shared-memory"
_RESTRICTED_POD = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
"""Fields that the Pod Security Standard ``restricted`` requires of a pod
(K8S:docs/concepts/security/pod-security-standards)."""


class ServedEndpoint(Struct):
    """Endpoint, with the properties of its pool and namespace."""

    spec: EndpointSpec
    limits: Mapping[str, int]
    """Resource requests of a pod that uses all GPUs and all fabric ports of its node."""
    taints: tuple[TaintSpec, ...]
    """Taints of the pool's nodes, which pods tolerate."""
    networks: tuple[str, ...] = ()
    """Network attachments of the fabric ports."""
    domain: str | None = None
    """Label of nodes with the domain that a group shares; None without a domain."""
    restricted: bool = True
    """Whether the namespace enforces the Pod Security Standard ``restricted``."""
    isolated: bool = True
    """Whether network policies deny traffic from outside the cluster to pods of the namespace."""
    host_name: str | None = None
    """DNS name; None without DNS records."""


class ServingInput(Struct):
    """Endpoints of one cluster."""

    name: str
    cluster: str
    spec: ServingSpec
    endpoints: tuple[ServedEndpoint, ...]
    queue_class: str | None = None
    """Class of the pods in their queue; None without queues."""
    inside: tuple[Network, ...] = ()
    """Prefixes of the cluster's nodes, pods and Services."""
    hidden: tuple[Network, ...] = ()
    """Networks of the region that tenants must not reach."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the objects of each endpoint. None of them waits for pods, which the tenant creates."""
        return tuple(item for endpoint in self.endpoints for item in self._endpoint(endpoint))

    def base(self, endpoint: ServedEndpoint) -> Json:
        """Return the LeaderWorkerSet of ``endpoint`` without image, command and probes of its container."""
        spec, queued = endpoint.spec, self.queue_class is not None
        annotations = given(
            **{NETWORKS: ",".join(endpoint.networks) or None, TOGETHER: endpoint.domain if queued else None}
        )
        return {
            "apiVersion": GROUP,
            "kind": "LeaderWorkerSet",
            "metadata": {
                "name": spec.name,
                "namespace": spec.namespace,
                **given(labels=given(**{QUEUE_LABEL: QUEUE if queued else None, CLASS_LABEL: self.queue_class})),
                **given(annotations=given(**{EXCLUSIVE: None if queued else endpoint.domain})),
            },
            "spec": {
                "replicas": spec.groups,
                "leaderWorkerTemplate": {
                    "size": spec.nodes,
                    "restartPolicy": "RecreateGroupOnPodRestart",
                    "workerTemplate": {
                        **given(metadata=given(annotations=annotations)),
                        "spec": self._pod(endpoint),
                    },
                },
            },
        }

    def _endpoint(self, endpoint: ServedEndpoint) -> Iterator[Manifest]:
        spec = endpoint.spec
        name = spec.found_as
        place: dict[str, Any] = {"namespace": spec.namespace, "cluster": self.cluster}
        balanced = spec.exposure is Exposure.LOAD_BALANCER
        outside = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "allocateLoadBalancerNodePorts": False}
        leaders = {SET_LABEL: spec.name, INDEX_LABEL: "0"}
        yield manifest(
            "v1",
            "Service",
            name,
            **place,
            annotations={
                "pulumi.com/skipAwait": "true",  # A model without running pods must not block an update.
                **given(**{HOST_NAME: endpoint.host_name}),
            },
            spec={
                **(outside if balanced else {"type": "ClusterIP"}),
                "selector": leaders,
                "ports": [{"name": "model", "protocol": "TCP", "port": spec.port, "targetPort": spec.port}],
            },
        )
        if balanced and endpoint.isolated:
            allowed = incoming(anywhere(*self.hidden, *self.inside), ports=(spec.port,))
            policy = {"podSelector": {"matchLabels": leaders}, "policyTypes": ["Ingress"], "ingress": [allowed]}
            yield manifest("networking.k8s.io/v1", "NetworkPolicy", name, **place, spec=policy)
        text = yaml.safe_dump(self.base(endpoint), sort_keys=False, width=4096)
        yield manifest("v1", "ConfigMap", name, **place, data={BASE: text})

    def _pod(self, endpoint: ServedEndpoint) -> dict[str, Any]:
        """Return the pod of a group: leaders and workers have the same template."""
        spec, cache = endpoint.spec, endpoint.spec.cache
        # NCCL needs more shared memory than the 64 MiB of a container.
        volumes: list[dict[str, Any]] = [{"name": _SHARED_MEMORY, "emptyDir": {"medium": "Memory"}}]
        mounts = [{"name": _SHARED_MEMORY, "mountPath": "/dev/shm"}]  # noqa: S108 - a mount
        if cache is not None:
            volumes.append({"name": _CACHE, "ephemeral": {"volumeClaimTemplate": _claim(cache)}})
            mounts.append({"name": _CACHE, "mountPath": f"/{_CACHE}"})
        bucket = f"bucket-{spec.bucket}"
        sources = [{"configMapRef": {"name": bucket}}, {"secretRef": {"name": bucket}}] if spec.bucket else []
        container = {
            "name": CONTAINER,
            "ports": [{"containerPort": spec.port}],
            **given(envFrom=sources),
            "resources": {"limits": {name: str(count) for name, count in endpoint.limits.items()}},
            **given(securityContext=dict(UNPRIVILEGED) if endpoint.restricted else None),
            "volumeMounts": mounts,
        }
        return {
            "priorityClassName": self.spec.priority,
            "automountServiceAccountToken": False,
            "nodeSelector": {keys.NODE_POOL: spec.pool},
            **tolerating(endpoint.taints),
            **given(securityContext=dict(_RESTRICTED_POD) if endpoint.restricted else None),
            "containers": [container],
            "volumes": volumes,
        }


def alerts(add_ons: Iterable[AddOn], endpoints: Mapping[str, tuple[str, ...]]) -> Iterator[dict[str, Any]]:
    """Yield the alerts about the controller among ``add_ons``, and about ``endpoints`` by namespace.

    A LeaderWorkerSet has a StatefulSet of its name for the leaders, and one for the workers of each group, named after
    the leader (LWS:pkg/controllers). Each alert uses metrics of kube-state-metrics.
    """
    for entry in add_ons:
        if entry.chart == CHART:
            # The name is that of the chart's template `lws.fullname`.
            release = entry.name if CHART in entry.name else f"{entry.name}-{CHART}"
            controller = f'namespace="{entry.namespace}",deployment="{release}-controller-manager"'
            yield alert(
                "ServingControllerDown",
                "critical",
                f"kube_deployment_status_replicas_available{{{controller}}} == 0",
                "The controller of LeaderWorkerSets is down: groups continue, but none is created or restarted.",
                audience=Audience.TENANT,
            )
    for space, names in endpoints.items():
        leaders = f'namespace="{space}",statefulset=~"{"|".join(names)}"'
        yield alert(
            "EndpointDown",
            "critical",
            f"kube_statefulset_replicas{{{leaders}}} > 0 unless on (namespace, statefulset)"
            f" kube_statefulset_status_replicas_ready{{{leaders}}} > 0",
            "No group of an endpoint is ready: requests to its model fail.",
            audience=Audience.TENANT,
        )
        every = f'namespace="{space}",statefulset=~"({"|".join(names)})(-[0-9]+)?"'
        yield alert(
            "EndpointDegraded",
            "warning",
            f"kube_statefulset_status_replicas_ready{{{every}}} < on (namespace, statefulset)"
            f" kube_statefulset_replicas{{{every}}}",
            "Pods of an endpoint have not been ready for 30 minutes: it serves with fewer groups than declared.",
            audience=Audience.TENANT,
            hold=_STARTING,
        )


def _claim(cache: ModelCacheSpec) -> dict[str, Any]:
    """Return the claim of an ephemeral volume, which is created and deleted with its pod.

    A claim that outlives its pod would keep the pod on one node, and make it wait forever once the node is replaced.
    """
    return {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": cache.storage_class,
            "resources": {"requests": {"storage": cache.size}},
        }
    }
