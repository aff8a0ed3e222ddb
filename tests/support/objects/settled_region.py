"""Responses of a region's API servers when the region is reconciled, with any backends."""

from __future__ import annotations

from typing import Any

from components.intents.dpus import ordered_dpus
from components.render.labels import FIELD_MANAGER, FINGERPRINT, MANAGED_BY
from components.render.manifest import MANAGEMENT
from components.render.network.dpu_templates import templates
from components.render.network.dpus import NAMESPACE
from components.specs.environment import Environment
from components.specs.keys import domain_of
from components.specs.pools.intents import ChartIntent
from components.specs.region.tenant import TenantSpec
from jacquard.observe.observation import Observation
from tests.support.objects.backend_objects import CONTROL_PLANE, MACHINE, TEMPLATE, conditions

Object = dict[str, Any]


def settled_region(environment: Environment) -> Observation:
    """Return the objects of all its clusters."""
    answers = _Answers(environment)
    for tenant in environment.tenants:
        answers.tenant(tenant)
    for group in environment.allocations.groups:
        answers.group(group)
    dpus = ordered_dpus(environment)
    for key in environment.image_pins.dpus:
        answers.dpu_deployment(key, dpus[key])
    for key, intent in environment.image_pins.charts.items():
        answers.chart(domain_of(key), environment.image_pins.chart_intents[intent])
    answers.release("operators", "cert-manager", history=[{"chartVersion": "1.18.2"}])
    return Observation(objects=answers.seen)


class _Answers:
    """Objects by cluster and kind."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.seen: dict[tuple[str, str], list[Object]] = {}

    def tenant(self, tenant: TenantSpec) -> None:
        """Add the control planes, storage classes and VMs of a tenant."""
        hosted = CONTROL_PLANE[self._environment.region.control_planes.backend]
        for cluster in tenant.clusters:
            endpoint, state = {"host": "10.3.0.1", "port": 6443}, conditions(ControlPlaneAvailable="True")
            self._add("Cluster", cluster.name, spec={"controlPlaneEndpoint": endpoint}, status={"conditions": state})
            self._put(hosted(cluster.name, cluster.version))
            for name in cluster.storage:
                self._put({"kind": "StorageClass", "metadata": {"name": name}}, cluster.name)
        for vm in tenant.vms.machines if tenant.vms else ():
            for name in [vm.name] if vm.count is None else [f"{vm.name}-{number}" for number in range(vm.count)]:
                body = {"metadata": {"name": name, "namespace": "vms"}, "status": {"printableStatus": "Running"}}
                self._put({"kind": "VirtualMachine", **body}, tenant.vms.cluster if tenant.vms else "")

    def group(self, group: str) -> None:
        """Add the machines of a rollout group, with their templates."""
        cluster, name = group.split("/", maxsplit=1)[0], group.replace("/", "-")
        count, intent = self._environment.allocations.groups[group].nodes, self._environment.image_pins.node(group)
        metal = self._environment.region.bare_metal.backend
        self._put(TEMPLATE[metal](cluster, f"{name}-t1", intent.sha256))
        self._add(
            "MachineDeployment",
            cluster,
            name,
            metadata={"generation": 2, "annotations": {FINGERPRINT: intent.fingerprint}},
            spec={"replicas": count},
            status={
                "observedGeneration": 2,
                **dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"), count),
                "conditions": conditions(Available="True", RollingOut="False", MachinesUpToDate="True"),
            },
        )
        for number in range(count):
            self._add(
                "Machine",
                cluster,
                f"{name}-{number}",
                metadata={"labels": {"cluster.x-k8s.io/deployment-name": name}},
                spec={"infrastructureRef": {"name": f"{name}-{number}"}},
                status={"conditions": conditions(Ready="True", UpToDate="True")},
            )
            for body in MACHINE[metal](cluster, f"{name}-{number}", f"{name}-t1"):
                self._put(body)

    def dpu_deployment(self, key: str, count: int) -> None:
        """Add a DPUDeployment and its DPUs, each flashed according to its pin."""
        name, pins = key.partition("/")[2], self._environment.image_pins
        made = templates(pins.dpu_intents[pins.dpus[key]])
        ready = {"observedGeneration": 1, "conditions": conditions(Ready="True")}
        self._add("DPUDeployment", NAMESPACE, name, metadata={"generation": 1}, status=ready)
        for number in range(count):
            self._add(
                "DPU",
                NAMESPACE,
                f"{name}-{number}",
                metadata={"labels": {"svc.dpu.nvidia.com/owned-by-dpudeployment": f"{NAMESPACE}_{name}"}},
                spec={"bfb": made.bfb_name, "dpuFlavor": made.flavor_name},
                status={"phase": "Ready", "operationalConditions": conditions(OperationalReady="True")},
            )

    def chart(self, cluster: str, intent: ChartIntent) -> None:
        """Add the pinned chart source of a cluster, and its release, installed on 2026-11-21."""
        installed = {"ociDigest": intent.digest, "lastDeployed": "2026-11-21T08:00:00Z"}
        self._flux("OCIRepository", cluster, intent.chart, {"ref": {"digest": intent.digest}})
        self.release(cluster, intent.chart, source_in=cluster, history=[installed])

    def release(self, namespace: str, chart: str, source_in: str = "operators", **status: Any) -> None:
        """Add the ready release of a chart."""
        source = {"kind": "OCIRepository", "name": chart, "namespace": source_in}
        self._flux("HelmRelease", namespace, chart, {"chartRef": source}, **status)

    def _flux(self, kind: str, namespace: str, name: str, spec: Object, **status: Any) -> None:
        ready = {"type": "Ready", "status": "True", "observedGeneration": 1}
        self._add(
            kind,
            namespace,
            name,
            metadata={"generation": 1, "labels": {MANAGED_BY: FIELD_MANAGER}},
            spec=spec,
            status={"conditions": [ready], **status},
        )

    def _add(self, kind: str, namespace: str, name: str | None = None, **rest: Any) -> None:
        metadata = {"name": name or namespace, "namespace": namespace, **rest.pop("metadata", {})}
        self._put({"kind": kind, "metadata": metadata, **rest})

    def _put(self, body: Object, cluster: str = MANAGEMENT) -> None:
        self.seen.setdefault((cluster, body["kind"]), []).append(body)
