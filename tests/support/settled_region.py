"""What the API servers of a region answer when everything is as ordered, whatever its backends."""

from __future__ import annotations

from typing import Any

from backend_objects import CONTROL_PLANE, MACHINE, TEMPLATE, conditions

from cli.observe import Observation
from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from components.specs.tenant import TenantSpec

Object = dict[str, Any]


def settled_region(environment: Environment) -> Observation:
    """Return the objects of all its clusters."""
    answers = _Answers(environment)
    for tenant in environment.tenants:
        answers.tenant(tenant)
    for group in environment.allocations.groups:
        answers.group(group)
    return Observation(objects=answers.seen)


class _Answers:
    """Objects by cluster and kind."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.seen: dict[tuple[str, str], list[Object]] = {}

    def tenant(self, tenant: TenantSpec) -> None:
        """Add control planes, storage classes and VMs of a tenant."""
        hosted = CONTROL_PLANE[self._environment.region.control_planes.backend]
        for cluster in tenant.clusters:
            endpoint, state = {"host": "10.3.0.1", "port": 6443}, conditions(ControlPlaneAvailable="True")
            self._add("Cluster", cluster.name, spec={"controlPlaneEndpoint": endpoint}, status={"conditions": state})
            self._put(hosted(cluster.name, cluster.version))
            for name in cluster.storage:
                self._put({"kind": "StorageClass", "metadata": {"name": name}}, cluster.name)
        for vm in tenant.vms.platform if tenant.vms else ():
            body = {"metadata": {"name": vm.name, "namespace": "vms"}, "status": {"printableStatus": "Running"}}
            self._put({"kind": "VirtualMachine", **body}, tenant.vms.cluster if tenant.vms else "")

    def group(self, group: str) -> None:
        """Add the machines of a rollout group, and what they are made from."""
        cluster, name = group.split("/", maxsplit=1)[0], group.replace("/", "-")
        count, pin = self._environment.allocations.groups[group].nodes, self._environment.image_pins.groups[group]
        metal = self._environment.region.bare_metal.backend
        self._put(TEMPLATE[metal](cluster, f"{name}-t1", pin.sha256))
        self._add(
            "MachineDeployment",
            cluster,
            name,
            metadata={"generation": 2},
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

    def _add(self, kind: str, namespace: str, name: str | None = None, **rest: Any) -> None:
        metadata = {"name": name or namespace, "namespace": namespace, **rest.pop("metadata", {})}
        self._put({"kind": kind, "metadata": metadata, **rest})

    def _put(self, body: Object, cluster: str = MANAGEMENT) -> None:
        self.seen.setdefault((cluster, body["kind"]), []).append(body)
