"""VM offerings, and VMs of the platform."""

from __future__ import annotations

import json
from typing import Any

from components.render.vms.vm_offering import VmOfferingInput
from components.specs.add_ons.add_ons import AddOn, Capability
from components.specs.pools.huge_pages import PageSize
from components.specs.pools.node_pool import TaintEffect, TaintSpec
from components.specs.region.tenant import QuotasSpec, VmQuotasSpec
from components.specs.struct import replace
from components.specs.vms.vm_offering import VolumeSpec
from components.specs.vms.vm_sizes import EvictionStrategy, VmGpuSpec
from tests.support.vms.vm_offerings import machine_spec, of


def test_an_offering_without_gpus_permits_no_device(offering: VmOfferingInput) -> None:
    plain = replace(offering, sizes=tuple(size for size in offering.sizes if size.gpu is None))
    [kubevirt] = of(plain, "KubeVirt")

    assert "permittedHostDevices" not in kubevirt.body["spec"]["configuration"]


def test_a_changed_size_is_a_new_object(offering: VmOfferingInput) -> None:
    first, *others = offering.sizes
    edited = replace(offering, sizes=(first.model_copy(update={"cpus": first.cpus + 1}), *others))

    old, new = (of(item, "VirtualMachineClusterInstancetype") for item in (offering, edited))

    assert old[0].name != new[0].name
    assert old[0].retain
    assert [item.name for item in old[1:]] == [item.name for item in new[1:]]


def test_a_size_states_its_drain_behaviour_if_it_differs_from_the_clusters(offering: VmOfferingInput) -> None:
    [machine] = offering.machines
    size = machine.size.model_copy(update={"eviction": EvictionStrategy.LIVE_MIGRATE})
    [kubevirt] = of(offering, "KubeVirt")
    strict = replace(offering, machines=(replace(machine, size=size),))

    assert kubevirt.body["spec"]["configuration"]["evictionStrategy"] == "LiveMigrateIfPossible"
    assert "evictionStrategy" not in machine_spec(offering)["template"]["spec"]
    assert machine_spec(strict)["template"]["spec"]["evictionStrategy"] == "LiveMigrate"


def test_vms_run_on_their_pools_and_their_operators_on_the_system_pool(offering: VmOfferingInput) -> None:
    taint = TaintSpec(key="vms", value="only", effect=TaintEffect.NO_SCHEDULE)
    soft = taint.model_copy(update={"effect": TaintEffect.PREFER_NO_SCHEDULE})
    tainted = replace(offering, pools=("a", "b"), taints=(taint, soft), system_pool=True)
    [kubevirt], [cdi] = of(tainted, "KubeVirt"), of(tainted, "CDI")

    placement = kubevirt.body["spec"]["workloads"]["nodePlacement"]
    required = placement["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    tolerated = [{"key": "vms", "operator": "Equal", "value": "only", "effect": "NoSchedule"}]
    system = {"kubernetes.io/os": "linux", "node-restriction.kubernetes.io/role": "system"}

    assert required["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "node-restriction.kubernetes.io/pool", "operator": "In", "values": ["a", "b"]}]}
    ]
    assert placement["tolerations"] == tolerated
    assert machine_spec(tainted)["template"]["spec"]["tolerations"] == tolerated
    critical = {"key": "CriticalAddonsOnly", "operator": "Exists"}
    services = {"nodeSelector": system, "tolerations": [critical]}
    assert kubevirt.body["spec"]["infra"] == {"nodePlacement": services}
    assert cdi.body["spec"]["infra"] == services
    operators = [json.loads(entry["patch"]) for entry in pod_patches(tainted)]
    anywhere = {"affinity": {"nodeAffinity": None}}  # Upstream's manifest requires control plane nodes.
    assert [entry["spec"]["template"]["spec"] for entry in operators] == [services | anywhere, services]


def pod_patches(offering: VmOfferingInput) -> list[dict[str, Any]]:
    """Return the patches of the operators' Deployments."""
    found = []
    for item in of(offering, "Kustomization") + of(offering, "HelmRelease"):
        renderers = item.body["spec"].get("postRenderers") or [{"kustomize": item.body["spec"]}]
        patches = renderers[0]["kustomize"]["patches"]
        found += [entry for entry in patches if entry["target"]["kind"] == "Deployment"]
    return found


def test_disks_are_filled_on_nodes_of_vms_or_on_the_system_pool(offering: VmOfferingInput) -> None:
    taint = TaintSpec(key="vms", value="only", effect=TaintEffect.NO_EXECUTE)
    with_system = replace(offering, pools=("a", "b"), taints=(taint,), system_pool=True)
    workloads = [
        of(item, "CDI")[0].body["spec"]["workload"] for item in (with_system, replace(with_system, system_pool=False))
    ]
    affinities = [workload["affinity"]["nodeAffinity"] for workload in workloads]
    vms = {"matchExpressions": [{"key": "node-restriction.kubernetes.io/pool", "operator": "In", "values": ["a", "b"]}]}
    system = {
        "matchExpressions": [{"key": "node-restriction.kubernetes.io/role", "operator": "In", "values": ["system"]}]
    }

    terms = [entry["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] for entry in affinities]
    assert terms == [[vms, system], [vms]]
    assert [entry.get("preferredDuringSchedulingIgnoredDuringExecution") for entry in affinities] == [
        [{"weight": 1, "preference": system}],
        None,
    ]
    for workload in workloads:
        assert workload["nodeSelector"] == {"kubernetes.io/os": "linux"}
        assert workload["tolerations"] == [
            {"key": "CriticalAddonsOnly", "operator": "Exists"},
            {"key": "vms", "operator": "Equal", "value": "only", "effect": "NoExecute"},
        ]


def test_kubevirt_has_monitors_in_clusters_with_prometheus(offering: VmOfferingInput) -> None:
    monitoring = AddOn(
        name="monitoring", chart="kube-prometheus-stack", namespace="metrics", gives=Capability.MONITORING
    )
    of_another = monitoring.model_copy(update={"chart": "prometheus"})
    specs = [
        of(replace(offering, monitoring=entry), "KubeVirt")[0].body["spec"] for entry in (monitoring, of_another, None)
    ]

    assert [(spec.get("monitorNamespace"), spec.get("monitorAccount")) for spec in specs] == [
        ("metrics", "monitoring-kube-prometheus-prometheus"),
        (None, None),
        (None, None),
    ]


def test_permitted_devices_are_those_of_the_sizes(offering: VmOfferingInput) -> None:
    gpu = VmGpuSpec(device="nvidia.com/L40S", pci_selector="10DE:26B9", count=2)
    size = offering.sizes[0].model_copy(update={"gpu": gpu})
    [kubevirt] = of(replace(offering, sizes=(size, *offering.sizes)), "KubeVirt")

    assert kubevirt.body["spec"]["configuration"]["permittedHostDevices"] == {
        "pciHostDevices": [{"pciVendorSelector": "10DE:26B9", "resourceName": "nvidia.com/L40S"}]
    }


def test_a_size_with_dedicated_cpus_makes_handlers_detect_them(offering: VmOfferingInput) -> None:
    asked = {"dedicated_cpus": True, "emulator_cpu": True, "huge_pages": PageSize.GIGABYTE, "numa": True}
    changed = replace(offering, sizes=(offering.sizes[0].model_copy(update=asked), *offering.sizes[1:]))
    [kubevirt], [size, _] = of(changed, "KubeVirt"), of(changed, "VirtualMachineClusterInstancetype")

    assert kubevirt.body["spec"]["configuration"]["developerConfiguration"] == {"featureGates": ["CPUManager"]}
    assert size.body["spec"]["cpu"] == {
        "guest": 4,
        "dedicatedCPUPlacement": True,
        "isolateEmulatorThread": True,
        "numa": {"guestMappingPassthrough": {}},
    }
    assert size.body["spec"]["memory"] == {"guest": "16Gi", "hugepages": {"pageSize": "1Gi"}}


def test_vms_are_only_emulated_if_the_region_requires_it(offering: VmOfferingInput) -> None:
    [plain], [soft] = of(offering, "KubeVirt"), of(replace(offering, emulation=True), "KubeVirt")

    assert "developerConfiguration" not in plain.body["spec"]["configuration"]
    assert soft.body["spec"]["configuration"]["developerConfiguration"] == {"useEmulation": True}


def test_the_quota_of_vms_includes_pods_of_the_platform(offering: VmOfferingInput) -> None:
    [machine] = offering.machines
    gpu = VmGpuSpec(device="nvidia.com/L40S", pci_selector="10DE:26B9", count=2)
    size = offering.sizes[0].model_copy(update={"gpu": gpu})
    quotas = QuotasSpec(
        public_ips=2, storage={"shared-vast": "1Ti", "shared-nfs": "940Gi"}, vms=VmQuotasSpec(machines=9, gpus=4)
    )
    volume = VolumeSpec(name="big", size="94Gi", storage_class="shared-nfs")
    one = replace(machine, spec=machine.spec.model_copy(update={"volumes": (volume,)}))
    [quota] = of(replace(offering, sizes=(size,), quotas=quotas, machines=(one,)), "ResourceQuota")
    hard = quota.body["spec"]["hard"]
    golden = len(offering.images) * 80
    vast = int(hard.pop("shared-vast.storageclass.storage.k8s.io/requests.storage").removesuffix("Gi"))

    assert hard == {
        "count/virtualmachines.kubevirt.io": "9",
        "requests.nvidia.com/L40S": "4",
        "services.loadbalancers": "2",
        "shared-nfs.storageclass.storage.k8s.io/requests.storage": "1100Gi",
    }
    assert vast * 0.94 >= 1024 + 2 * golden
    assert of(offering, "ResourceQuota") == []
