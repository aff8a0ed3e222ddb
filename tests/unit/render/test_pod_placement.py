"""Each pod of a tenant cluster has a node that it fits on, on the right pool, and its host paths exist there.

Resources are not considered. ``ACCEPTED`` lists the accepted problems; a row whose problem is gone must be removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import SliceKind, slices
from components.render.health import quarantine
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.hosts.instance_types import PortUse, RdmaSpec
from components.specs.pools.node_pool import PoolRole, TaintEffect, TaintSpec
from components.specs.region.tenant import TenantSpec
from tests.support.add_ons.helm_charts import CHARTS, Helm
from tests.support.data.environment_data import REFERENCES, STARTER, reference
from tests.support.network.on_infiniband import on_infiniband
from tests.support.network.on_roce import sharing_roce
from tests.support.objects.pod_places import misplaced, missing_host_paths, places
from tests.support.objects.pod_tables import RELEASES, Json, cluster_of, dig, pods_of, rows

Found = tuple[str, str, str]
_SYSTEM = TaintSpec(key="CriticalAddonsOnly", effect=TaintEffect.NO_SCHEDULE)
_JOBS = TaintSpec(key="workload", value="training", effect=TaintEffect.NO_SCHEDULE)
WORKLOADS = ("Deployment", "DaemonSet", "StatefulSet", "Job")
_EVERYTHING = ("default", "monitoring", "kueue", "slurm", "lws")
_PLACES = re.compile(r"(.*[nN]odeSelector|.*[tT]olerations|affinity|nodeAffinity|nodeName)")


def hardened(environment: Environment) -> Environment:
    """Return an environment with taints on all pools of clusters with a system pool, as large tenants have them."""

    def changed(tenant: TenantSpec) -> TenantSpec:
        return tenant.model_copy(
            update={
                "clusters": tuple(
                    cluster.model_copy(
                        update={
                            "pools": tuple(
                                pool.model_copy(
                                    update={"taints": (_SYSTEM if pool.role is PoolRole.SYSTEM else _JOBS,)}
                                )
                                for pool in cluster.pools
                            )
                        }
                    )
                    if any(pool.role is PoolRole.SYSTEM for pool in cluster.pools)
                    else cluster
                    for cluster in tenant.clusters
                )
            }
        )

    return environment.model_copy(update={"tenants": tuple(map(changed, environment.tenants))})


def with_add_ons(environment: Environment, names: tuple[str, ...]) -> Environment:
    """Return an environment whose clusters have the add-ons ``names``."""
    tenants = (
        tenant.model_copy(
            update={"clusters": tuple(cluster.model_copy(update={"add_ons": names}) for cluster in tenant.clusters)}
        )
        for tenant in environment.tenants
    )
    return environment.model_copy(update={"tenants": tuple(tenants)})


def with_vms(environment: Environment) -> Environment:
    """Return the region of ``jacquard new`` with VMs on the pool of laptop's tenant."""
    [tenant] = environment.tenants
    vms = reference("laptop").tenants[0].vms
    assert vms is not None
    classes = {"image_storage_class": "shared-nfs", "platform": (), "public_ips": 0, "cluster": "first-train"}
    changed = tenant.model_copy(update={"vms": vms.model_copy(update=classes)})
    return environment.model_copy(update={"tenants": (changed,)})


def _hardened(name: str) -> Environment:
    return hardened(reference(name))


VARIANTS: Mapping[str, Callable[[], Environment]] = {
    **{name: partial(reference, name) for name in REFERENCES},
    **{f"{name}, all pools with taints": partial(_hardened, name) for name in REFERENCES},
    "laptop with more add-ons": lambda: with_add_ons(reference("laptop"), _EVERYTHING),
    "laptop with calico": lambda: with_add_ons(reference("laptop"), ("calico",)),
    "laptop on InfiniBand": lambda: on_infiniband(reference("laptop"), RdmaSpec(ports=PortUse.SHARED)),
    "RoCE with shared ports": sharing_roce,
    "new region with VMs": lambda: with_vms(reference(STARTER)),
}
"""The reference environments, and further environments that users may write."""
_JOBS_POOLS, _NOWHERE = "may run on pools of jobs", "fits no pool"
ACCEPTED: Mapping[Found, str] = {
    ("kube-ovn", "ovs-ovn", "/var/run/containerd"): "only a script for debugging reads the folder",
    ("K0smotronControlPlane", "coredns", _NOWHERE): "rule placement.taints refuses such taints",
    ("CronJob", "job", _JOBS_POOLS): "tests of nodes run on the nodes that they test",
    ("kube-ovn", "kube-ovn-controller", _JOBS_POOLS): "the chart has no value for its selector",
}
"""Accepted problems, as chart or kind, pod and the beginning of the problem, with the reason."""


@cache
def rendered(variant: str) -> tuple[Manifest, ...]:
    environment = VARIANTS[variant]()
    parts = (part for part in slices(environment) if part.kind is not SliceKind.INVENTORY)
    return tuple(item for part in parts for item in objects(manifests(environment, part)))


@cache
def found(variant: str) -> tuple[tuple[str, Found], ...]:
    """Return the misplaced pods and missing paths of an environment, by cluster."""
    every = places(VARIANTS[variant](), rendered(variant)).values()
    return tuple(
        (cluster.name, item) for cluster in every for item in (*misplaced(cluster), *missing_host_paths(cluster))
    )


def awaited(item: Found) -> tuple[str, str, str] | None:
    """Return the row of an accepted problem; None for another one."""
    return next((row for row in ACCEPTED if row[:2] == item[:2] and item[2].startswith(row[2])), None)


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_pod_has_a_node_and_its_paths(variant: str) -> None:
    assert [f"{cluster}: {': '.join(item)}" for cluster, item in found(variant) if awaited(item) is None] == []


def test_each_accepted_problem_is_still_there() -> None:
    seen = {awaited(item) for variant in VARIANTS for _, item in found(variant)}

    assert ACCEPTED.keys() - seen == set(), "gone: remove the rows"


def test_the_tables_know_each_chart_and_each_field_that_places_pods() -> None:
    unknown = set()
    for item in (item for variant in VARIANTS for item in rendered(variant) if cluster_of(item) is not None):
        installs = item.kind in RELEASES
        of = dig(item.body, f"spec.{RELEASES[item.kind]}.name") if installs else item.kind
        if installs and of not in rows():
            unknown.add(of)
        if of in (
            quarantine.KIND,
            "ResourceFlavor",
        ):  # For taints and for jobs of tenants; neither places pods of the platform.
            continue
        read = {path for row in rows().get(of, ()) for path in paths_of(row)}
        settings = (dig(item.body, "spec.values") or {}) if installs else item.body
        unknown |= {f"{of} {path}" for path in placing(settings) if path not in read}

    assert unknown == set()


def paths_of(row: Json) -> Iterator[str]:
    """Yield the paths that a row reads."""
    for base in row.get("at", ()):
        yield from (f"{base}.{key}".lstrip(".") for key in ("nodeSelector", "tolerations", "affinity"))
    for key in ("nodeSelector", "tolerations", "affinity", "nodeAffinity", "required", "labels"):
        yield row.get(key, "")


def placing(settings: Any, above: str = "") -> Iterator[str]:
    """Yield the path of each field that places pods."""
    for key, value in settings.items() if isinstance(settings, Mapping) else ():
        path = f"{above}.{key}".lstrip(".")
        if _PLACES.fullmatch(key):
            yield path
        else:
            yield from placing(value, path)


def test_the_table_matches_real_charts(tmp_path: Path) -> None:
    helm, different = Helm(tmp_path, reference("laptop").versions.kubernetes[-1]), []
    releases = {}
    for variant in ("laptop", "eu-south-03a", "laptop with more add-ons"):
        for item in rendered(variant):
            chart = dig(item.body, "spec.chartRef.name")
            if chart in CHARTS and cluster_of(item) is not None:
                fields = ("releaseName", "targetNamespace", "values", "postRenderers")
                settings = json.dumps([item.body["spec"].get(field) for field in fields])
                releases.setdefault((chart, settings), item)  # Clusters with equal settings are compared once.
    for (chart, _), item in releases.items():
        different += [f"{chart} {text}" for text in differences(helm, item)]
    compared = {chart for chart, _ in releases}

    assert different == []
    assert compared >= {
        "cert-manager",
        "kueue",
        "lws",
        "metallb",
        "node-feature-discovery",
        "slurm-operator",
        "topolvm",
    }


def test_no_chart_waits_for_a_node_before_it_is_installed(tmp_path: Path) -> None:
    helm, waiting = Helm(tmp_path, reference("laptop").versions.kubernetes[-1]), []
    for item in (item for variant in ("laptop", "laptop with more add-ons") for item in rendered(variant)):
        chart, spec = dig(item.body, "spec.chartRef.name"), item.body.get("spec")
        if chart in CHARTS and cluster_of(item) is not None and not spec["install"].get("disableHooks"):
            values = spec.get("values", {})
            made = helm.template(chart, spec["releaseName"], spec["targetNamespace"], values, hooks=True)
            hooks = [dig(one, "metadata.annotations") or {} for one in made if one["kind"] in (*WORKLOADS, "Pod")]
            waiting += [chart for one in hooks if "install" in one.get("helm.sh/hook", "")]

    assert waiting == []


def differences(helm: Helm, item: Manifest) -> Iterator[str]:
    """Yield how pods of a chart, as Flux installs a release of it, differ from those of the table."""
    made = helm.installed(item)
    real = {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in made if one["kind"] in WORKLOADS}
    by_name = {pod.name: pod for pod in pods_of(item)}
    names = {name: max((end for end in by_name if name.endswith(end)), key=len, default="") for name in real}
    yield from (f"{name}: not in the table" for name, end in names.items() if not end)
    yield from (f"{name}: not in the chart" for name in by_name.keys() - set(names.values()))
    for name, pod in ((name, by_name[end]) for name, end in names.items() if end):
        mounted = {volume["hostPath"]["path"] for volume in real[name].get("volumes") or () if "hostPath" in volume}
        yield from (f"{name}: {path}" for path in pod.paths if path not in mounted)
        if placed(real[name]) != placed(pod.spec):
            yield f"{name}: {placed(real[name])}, not {placed(pod.spec)}"


def placed(pod: Mapping[str, Any]) -> Json:
    """Return the placement of a pod without what has no effect on nodes of tenants."""
    required = dig(pod, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution")
    selector = {key: value for key, value in (pod.get("nodeSelector") or {}).items() if key != "kubernetes.io/os"}
    control_plane = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
    tolerations = [one for one in pod.get("tolerations") or () if one.get("key") not in control_plane]
    return {"nodeSelector": selector, "tolerations": tolerations, "affinity": required}
