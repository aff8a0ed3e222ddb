"""What an older library wrote: templates and fingerprints, and whole regions. No setting refreshes any of it.

``environments/`` holds regions whose lock files have format 1: groups of template revisions 1 and 2, a rollout that is
open, kubelet settings, a restart. ``rendered_<region>.txt`` has a line for each object that the library of those days
rendered of it, with the beginning of its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.allocate.migrations import MIGRATIONS
from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.control_planes.request_priority import RequestPriorityInput
from components.render.manifest import Json, Manifest, objects
from components.render.objects import digest, given
from components.render.pools.node_templates import TemplateIntent
from components.render.pools.template_revisions import REVISIONS, older_fingerprint
from components.render.region.isolation import IsolationInput
from components.rules.checks import check
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.reading.loader import load_environment
from components.specs.reading.migrations import moves
from components.specs.reading.problems import SpecError
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend

FOLDER = Path(__file__).parent / "older_library"
OLDER = (1, 2)
LATER_KINDS = {
    "ExternalSecret",
    "Ironic",
    "Issuer",
    "Certificate",
    "PodDisruptionBudget",
    "ServiceAccount",
    "StorageProfile",
}
"""Kinds that no library of those days rendered: what the data said of them had no effect."""
ASKED_SINCE = {
    "bare-metal.root-devices",
    "announcements.announced",
    "add-ons.networks",
    "add-ons.load-balancers",
    "data-stores.of-dpus",
    "references.charts",
    "storage-walls.between-tenants",
    "storage.mount-options",
    "bare-metal.bmc-certificates",
    "vms.vm-sizes",
    "outward.control-planes",
    "networks.ovn-central",
    "networks.without-isolation",
}
"""Rules that ask for what those days did not know: it is told, and written by hand."""
LATER_CONCEPTS = (IsolationInput, RequestPriorityInput)
"""What no library of those days made anything from."""
DEFRAGMENTATION = (
    f"\ntools:\n  - {{name: etcd-defrag, image: registry.cloud.example/etcd-defrag, digest: sha256:{0:064}}}\n"
)
"""Image that is asked for where an etcd is made, written by hand."""
SINCE_THEN: dict[str, Any] = {
    "boot": BootMode.LIVE_ISO,
    "max_pods": 250,
    "kubelet_configuration": {"podPidsLimit": 8192},
}
"""What later libraries know of an intent, at values that a later revision writes into templates."""


def written(revision: int) -> list[dict[str, Any]]:
    path = FOLDER / f"revision_{revision}.yaml"
    entries: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return entries


def remembered(intent: dict[str, Any]) -> TemplateIntent:
    return TemplateIntent(
        **{
            **SINCE_THEN,
            **intent,
            "control_plane": ControlPlaneBackend(intent["control_plane"]),
            "bare_metal": BareMetalBackend(intent["bare_metal"]),
            "taints": tuple(map(tuple, intent["taints"])),
            **({"boot": BootMode(intent["boot"])} if "boot" in intent else {}),
        }
    )


def of_vms(line: str) -> bool:
    """Tell whether a line is of virtual machines, which make no node and have changed since."""
    _, _, kind, place = line.split()
    return place.startswith("virtual-machines/") or kind in {"KubeVirt", "CDI"} or kind.startswith("VirtualMachine")


def in_order(spec: Json) -> str:
    return str(yaml.safe_dump(spec, sort_keys=False))


@pytest.mark.parametrize(
    ("revision", "entry"),
    [(revision, entry) for revision in OLDER for entry in written(revision)],
    ids=lambda value: "-".join(map(str, value["intent"].values()))[:60] if isinstance(value, dict) else str(value),
)
def test_a_newer_library_writes_the_templates_of_an_older_one_byte_by_byte(
    revision: int, entry: dict[str, Any]
) -> None:
    intent = remembered(entry["intent"])

    built = REVISIONS[revision].build(intent)

    for name, spec in (("machine", built.machine), ("bootstrap", built.bootstrap)):
        assert in_order(spec) == in_order(entry[name]["spec"])
        assert digest(spec, 10) == entry[name]["digest"]
    assert older_fingerprint(intent, revision) == entry["fingerprint"]


@pytest.mark.parametrize("revision", OLDER)
def test_every_combination_of_backends_is_remembered(revision: int) -> None:
    seen = {(entry["intent"]["control_plane"], entry["intent"]["bare_metal"]) for entry in written(revision)}

    assert seen == {(plane.value, metal.value) for plane in ControlPlaneBackend for metal in BareMetalBackend}


@pytest.mark.parametrize("name", ["laptop", "eu-south-03a"])
def test_a_lock_file_of_an_older_library_is_moved_on_without_changing_a_rendered_byte(
    name: str, tmp_path: Path
) -> None:
    folder = tmp_path / "environments"
    shutil.copytree(FOLDER / "environments", folder)

    found, problems = moves(folder, name, MIGRATIONS)
    for move in found:
        move.path.write_text(move.text, encoding="utf-8")

    assert problems == []
    versions = folder / "catalog" / "versions.yaml"
    versions.write_text(versions.read_text(encoding="utf-8").replace("\ntools:\n", DEFRAGMENTATION), encoding="utf-8")
    environment = load_environment(name, folder)
    assert {problem.rule for problem in check(environment)} <= ASKED_SINCE
    reviewed = (FOLDER / f"rendered_{name}.txt").read_text(encoding="utf-8").splitlines()
    kept = [line for line in reviewed if line.split()[2] not in CHANGED_SINCE and not of_vms(line)]
    assert [line for line in kept if not MOVED.search(line)] == [
        line for line in rendered(environment) if not of_vms(line)
    ]


def test_a_lock_file_of_an_older_library_says_what_to_run(tmp_path: Path) -> None:
    folder = tmp_path / "environments"
    shutil.copytree(FOLDER / "environments", folder)

    with pytest.raises(SpecError) as caught:
        load_environment("laptop", folder)

    assert str(caught.value) == (
        "environments/laptop: 2 problems\n"
        "  allocations.lock.yaml:2  schema_version: is 1, but this jacquard reads 2; run jacquard migrate\n"
        "  images.lock.yaml:2       schema_version: is 1, but this jacquard reads 3; run jacquard migrate"
    )


def test_a_pin_of_an_image_that_is_gone_is_not_moved_on(tmp_path: Path) -> None:
    folder = tmp_path / "environments"
    shutil.copytree(FOLDER / "environments", folder)
    catalog = folder / "catalog" / "images.yaml"
    catalog.write_text(catalog.read_text().replace("version: cpu-2026.10.2", "version: cpu-2026.9.9"))

    _, problems = moves(folder, "laptop", MIGRATIONS)

    [problem] = problems
    assert (problem.file, problem.path) == ("images.lock.yaml", "groups.acme-train/system/a04")
    assert problem.text == (
        "image cpu-2026.10.2 is no longer in ../catalog/images.yaml, which the migration of its pins requires; add it"
        " again, then run jacquard migrate"
    )


MOVED = re.compile(r"(acme-train|tessera-render) .*metallb-system")
"""MetalLB of tenants' clusters, an add-on now, which the data of those days do not ask for."""
CHANGED_SINCE = {
    "MachineHealthCheck",  # a pool had one, and each rollout group has one now
    "HelmRelease",  # what Flux installs moves with charts
    "OCIRepository",
    "DPFOperatorConfig",
    "DPUServiceTemplate",
    "InfrastructureProvider",  # how controllers are started
    "DPUServiceConfiguration",  # what DPUs run, and not what they are flashed from
}
"""Kinds that make or move no node, and are written otherwise now."""

SUMMARIES_THEN = {
    "ControlPlaneDown": (
        "No API server of the cluster answers: nodes and pods go on, nothing can be changed or repaired."
    ),
    "ControlPlaneFails": "More than 5 % of requests fail inside the API server.",
    "ControlPlaneSlow": "One change in a hundred takes longer than 1 s.",
    "EtcdWithoutLeader": "A member has no leader.",
    "EtcdNearlyFull": "80 % of the quota are used; at 100 % the cluster can only be read and deleted from.",
}
"""Summaries of alerts in older libraries, by alert."""
DESCRIPTIONS_THEN = {
    "region-operators": "Controllers that every cluster of the region depends on.",
    "region-services": "Services of the region that tenants reach, such as image proxies.",
}
"""Descriptions of PriorityClasses in older libraries, by name."""


def as_then(item: Manifest) -> Json:
    """Return an object without what was changed on purpose since, which makes or moves no node."""
    body = dict(json.loads(json.dumps(item.body)))
    if item.kind in THEN:
        THEN[item.kind](body)
    return body


def _namespace(body: Json) -> None:
    """Take the level of Pod Security away."""
    body["metadata"]["labels"].pop("pod-security.kubernetes.io/enforce", None)


def _machine_deployment(body: Json) -> None:
    """Limit drains of pools that wait for jobs to an hour."""
    spec = body["spec"]["template"]["spec"]
    spec["deletion"] = {"nodeDrainTimeoutSeconds": 3600, **spec["deletion"]}


def _machine_drain_rule(body: Json) -> None:
    """Know jobs by two labels."""
    del body["spec"]["pods"][2:]


def _dpu_deployment(body: Json) -> None:
    """Let uplinks of DPUs take packets of 9000 bytes, as hosts do, and run one service by OVN."""
    if "ovn-controller" in body["spec"]["services"]:
        name = body["metadata"]["name"]
        body["spec"]["services"] = {"ovn": {"serviceTemplate": "ovn", "serviceConfiguration": f"{name}-ovn"}}
    for switch in body["spec"]["serviceChains"]["switches"]:
        switch["serviceMTU"] = 9000


def _kamaji_control_plane(body: Json) -> None:
    """Limit nothing, name no account, and tell no client to go on to another server."""
    spec = body["spec"]
    del spec["deployment"]["serviceAccountName"]
    del spec["addons"]["konnectivity"]["server"]
    for component in ("apiServer", "controllerManager", "scheduler"):
        del spec[component]["resources"]["limits"]
    arguments = [one for one in spec["apiServer"].pop("extraArgs") if not one.startswith("--goaway-chance=")]
    spec["apiServer"] = {**given(extraArgs=arguments), **spec["apiServer"]}


def _k0smotron_control_plane(body: Json) -> None:
    """Defragment no etcd, spread its members with API servers, limit nothing, tell no client to go on to another."""
    spec = body["spec"]
    etcd = spec["storage"]["etcd"]
    del etcd["defragJob"], etcd["resources"]["limits"], spec["resources"]["limits"]
    arguments = spec["k0sConfig"]["spec"]["api"].pop("extraArgs", {})
    spec["k0sConfig"]["spec"]["api"] |= given(extraArgs={k: v for k, v in arguments.items() if k != "goaway-chance"})
    for constraint in spec["topologySpreadConstraints"]:
        constraint["labelSelector"] = {"matchLabels": {"cluster.x-k8s.io/cluster-name": body["metadata"]["name"]}}
        del constraint["matchLabelKeys"]


def _prometheus_rule(body: Json) -> None:
    """Restore the previous summaries of alerts."""
    for group in body["spec"]["groups"]:
        for rule in group["rules"]:
            rule["annotations"]["summary"] = SUMMARIES_THEN[rule["alert"]]


def _priority_class(body: Json) -> None:
    """Restore the previous descriptions."""
    body["description"] = DESCRIPTIONS_THEN[body["metadata"]["name"]]


def _storage_class(body: Json) -> None:
    """Say neither from where it is mounted nor whether it is that of VMs."""
    annotations = body["metadata"].pop("annotations", {})
    if kept := {key: value for key, value in annotations.items() if key.startswith("storageclass.kubernetes.io")}:
        body["metadata"]["annotations"] = kept


THEN: dict[str, Callable[[Json], None]] = {
    "Namespace": _namespace,
    "MachineDeployment": _machine_deployment,
    "MachineDrainRule": _machine_drain_rule,
    "DPUDeployment": _dpu_deployment,
    "KamajiControlPlane": _kamaji_control_plane,
    "K0smotronControlPlane": _k0smotron_control_plane,
    "PrometheusRule": _prometheus_rule,
    "PriorityClass": _priority_class,
    "StorageClass": _storage_class,
}
"""What takes from an object of a kind what libraries of those days did not write."""


def rendered(environment: Environment) -> list[str]:
    return [
        f"{hashlib.sha256(json.dumps(as_then(item)).encode()).hexdigest()[:16]} {item.cluster} {item.kind}"
        f" {item.namespace or '-'}/{item.name}"
        for part in slices(environment)
        for concept in inputs(environment, part)
        if not isinstance(concept, LATER_CONCEPTS)
        for item in objects(concept.render())
        if item.kind not in LATER_KINDS | CHANGED_SINCE
    ]
