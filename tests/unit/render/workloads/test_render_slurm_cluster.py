"""The Slurm cluster of a tenant cluster: names, placement, GPUs, volumes and references of its objects."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.inputs.workloads.slurm import of_cluster
from components.lookups.effects.changes import changes
from components.lookups.effects.effect import Effect
from components.lookups.pools import clusters
from components.programs.slurm_topology import place_of
from components.render.manifest import Manifest
from components.render.workloads.slurm import GROUP
from components.render.workloads.slurm_pool import CHART, NAMESPACE, SlurmPool, partition_lines, topology_file
from components.specs.environment import Environment
from components.specs.struct import replace
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of
from tests.support.workloads.slurm_clusters import slurm_input


@pytest.fixture
def objects(laptop: Environment) -> dict[tuple[str, str], Manifest]:
    return {(item.kind, item.name): item for item in objects_of(slurm_input(laptop))}


def spec(objects: dict[tuple[str, str], Manifest], kind: str, name: str = "slurm") -> dict[str, Any]:
    body: dict[str, Any] = objects[kind, name].body["spec"]
    return body


def test_a_cluster_without_slurm_has_none(laptop: Environment) -> None:
    assert [given for placed in clusters(laptop) for given in of_cluster(laptop, placed)] == []


def test_each_pool_has_a_node_set_of_its_size_on_its_locked_nodes(objects: dict[tuple[str, str], Manifest]) -> None:
    train, infer = spec(objects, "NodeSet", "train"), spec(objects, "NodeSet", "infer")

    assert (train["replicas"], infer["replicas"]) == (10, 4)
    pod = train["template"]["spec"]
    assert pod["nodeSelector"] == {"node-restriction.kubernetes.io/pool": "train"}
    assert pod["tolerations"] == [
        {"key": "workload", "operator": "Equal", "value": "training", "effect": "NoSchedule"},
        {"key": "slinky.slurm.net/slurm", "operator": "Exists"},
    ]
    assert "taintKubeNodes" not in train  # Releases since 1.2.0 reject it.
    assert train["extraConf"] == "Gres=gpu:h100:8"
    assert train["slurmd"]["resources"]["limits"]["nvidia.com/gpu"] == "8"


def test_a_pool_has_as_many_nodes_in_slurm_as_in_the_lock_file(laptop: Environment) -> None:
    groups = laptop.allocations.groups
    for pool in slurm_input(laptop).pools:
        placed = [size.nodes for key, size in groups.items() if key.startswith(f"acme-train/{pool.spec.name}/")]
        assert sum(placed) == pool.nodes


def test_login_nodes_and_compute_nodes_mount_the_same_volumes(objects: dict[tuple[str, str], Manifest]) -> None:
    claim = objects["PersistentVolumeClaim", "home"]
    login, train = spec(objects, "LoginSet", "login"), spec(objects, "NodeSet", "train")

    assert claim.protect
    assert claim.body["spec"]["accessModes"] == ["ReadWriteMany"]
    assert {"name": "home", "mountPath": "/home"} in login["login"]["volumeMounts"]
    assert {"name": "home", "mountPath": "/home"} in train["slurmd"]["volumeMounts"]


def test_secrets_are_references_only(objects: dict[tuple[str, str], Manifest]) -> None:
    for kind in ("Controller", "Accounting"):
        assert spec(objects, kind)["slurmKeyRef"] == {"name": "slurm-keys", "key": "slurm.key"}
        assert spec(objects, kind)["jwtKeyRef"] == {"name": "slurm-keys", "key": "jwt.key"}
    storage = spec(objects, "Accounting")["storageConfig"]
    assert storage["passwordKeyRef"] == {"name": "database", "key": "password"}
    assert spec(objects, "LoginSet", "login")["sssdConfRef"] == {"name": "users", "key": "sssd.conf"}
    assert not any(kind == "Secret" for kind, _ in objects)


def test_an_existing_database_is_not_created(laptop: Environment) -> None:
    accounting = {"endpoint": "mysql.example:3307", "password_secret": "database"}
    rendered = {(item.kind, item.name): item for item in objects_of(slurm_input(laptop, accounting=accounting))}

    storage = spec(rendered, "Accounting")["storageConfig"]
    assert (storage["host"], storage["port"]) == ("mysql.example", 3307)
    assert not {kind for kind, name in rendered if name.startswith("slurm-database")}
    assert "StatefulSet" not in {kind for kind, _ in rendered}
    assert "mariadb" not in slurm_input(laptop, accounting=accounting).images


def test_without_accounting_and_login_only_the_daemons_remain(laptop: Environment) -> None:
    rendered = objects_of(slurm_input(laptop, accounting=None, login=None, volumes=()))

    kinds = {item.kind for item in rendered}
    assert not kinds & {"Accounting", "LoginSet", "PersistentVolumeClaim"}
    assert {"Controller", "RestApi", "NodeSet"} <= kinds
    [controller] = [item for item in rendered if item.kind == "Controller"]
    assert "accountingRef" not in controller.body["spec"]


def test_all_objects_are_outside_the_namespace_of_the_operator(objects: dict[tuple[str, str], Manifest]) -> None:
    assert {item.namespace for item in objects.values()} == {None, NAMESPACE}


@pytest.mark.parametrize(("release", "fields"), [("1.1.0", {"name", "namespace"}), ("1.1.1", {"name"})])
def test_references_have_a_namespace_for_the_release_of_the_operator_that_needs_it(
    laptop: Environment, release: str, fields: set[str]
) -> None:
    charts = laptop.versions.charts
    changed_charts = tuple(changed(row, version=release) if row.name == CHART else row for row in charts)
    environment = changed(laptop, versions=changed(laptop.versions, charts=changed_charts))
    rendered = objects_of(slurm_input(environment))
    custom = {item.kind: item.body["spec"] for item in rendered if item.api_version == GROUP}
    references = [
        custom["Controller"]["accountingRef"],
        *custom["Controller"]["configFileRefs"],
        *(custom[kind]["controllerRef"] for kind in ("RestApi", "NodeSet", "LoginSet")),
    ]

    assert all(reference.keys() == fields for reference in references)


def test_partitions_name_the_node_sets_of_their_pools(laptop: Environment) -> None:
    given = slurm_input(laptop)
    pools = {pool.spec.name: pool for pool in given.pools}

    assert partition_lines(given.spec.partitions, pools).splitlines() == [
        "PartitionName=long Nodes=train Default=YES MaxTime=UNLIMITED PriorityTier=1 State=UP Topology=leaves",
        "PartitionName=short Nodes=train,infer Default=NO MaxTime=4:00:00 PriorityTier=10 State=UP Topology=leaves",
    ]


def test_more_nodes_than_the_operator_expects_are_permitted(laptop: Environment) -> None:
    [first, *_] = slurm_input(laptop).pools
    lines = partition_lines((), {"train": replace(first, nodes=1025)})

    assert lines.splitlines() == ["MaxNodeCount=1025"]


def linked(pool: SlurmPool, *racks: str, nodes: int) -> SlurmPool:
    return replace(pool, racks=racks, nodes=nodes)


def test_leaf_switches_are_a_tree_and_nvlink_domains_are_blocks(laptop: Environment) -> None:
    first, second = slurm_input(laptop).pools
    leaves = replace(first, leaves=("leaf-1", "leaf-2"))
    racks = linked(replace(second, leaves=("leaf-3",)), "r1", "r2", nodes=36)

    tree, blocks = yaml.safe_load(topology_file((leaves, racks)))

    assert tree["tree"]["switches"][0] == {"switch": "fabric", "children": "leaf-1,leaf-2,leaf-3"}
    assert [item["switch"] for item in tree["tree"]["switches"][1:]] == ["leaf-1", "leaf-2", "leaf-3"]
    assert blocks["block"] == {"block_sizes": [18], "blocks": [{"block": "r1"}, {"block": "r2"}]}
    assert [item["cluster_default"] for item in (tree, blocks)] == [True, False]


def test_partitions_with_nvlink_domains_only_are_scheduled_by_blocks(laptop: Environment) -> None:
    given = slurm_input(laptop)
    first, second = given.pools
    pools = {"train": linked(first, "r1", nodes=18), "infer": second}

    long, short = partition_lines(given.spec.partitions, pools).splitlines()

    assert long.endswith("Topology=nvlink")
    assert short.endswith("Topology=leaves")


def test_a_node_is_at_the_units_that_its_labels_name(objects: dict[tuple[str, str], Manifest]) -> None:
    settings = json.loads(objects["ConfigMap", "slurm-topology-labels"].body["data"]["settings.json"])
    pool = {"node-restriction.kubernetes.io/pool": "train"}

    def place(**labels: str) -> str | None:
        return place_of({"metadata": {"labels": {**pool, **labels}}}, settings)

    assert place(**{"jacquard.dev/leaf": "leaf-1"}) == "leaves:leaf-1"
    assert place() is None
    assert place_of({"metadata": {"labels": {"jacquard.dev/leaf": "leaf-1"}}}, settings) is None
    assert place_of({"metadata": {}}, settings) is None
    settings["pools"]["train"]["nvlink"] = "jacquard.dev/rack"
    assert place(**{"jacquard.dev/leaf": "leaf-1", "jacquard.dev/rack": "r1"}) == "leaves:leaf-1,nvlink:r1"


def test_a_pool_without_gpus_has_no_gres(laptop: Environment) -> None:
    first, _ = slurm_input(laptop).pools
    plain = replace(first, kind=changed(first.kind, gpu=None))

    assert plain.gres == ""


NONE: dict[str, Any] = {"gpu_check": False, "prolog": [], "epilog": []}
NOHOLD = "SchedulerParameters=nohold_on_prolog_fail"
FIRST, SECOND = ({"name": name, "script": f"#!/bin/sh\n/bin/{name}\n"} for name in ("mount", "clean"))


@pytest.mark.parametrize(
    ("scripts", "lines"),
    [
        ({}, []),
        ({"gpu_check": True}, [NOHOLD, "Prolog=check-gpus.sh", "Epilog=check-gpus.sh"]),
        ({"epilog": [FIRST]}, ["Epilog=epilog-mount.sh"]),
        (
            {"gpu_check": True, "prolog": [FIRST, SECOND], "epilog": [SECOND, FIRST]},
            [
                NOHOLD,
                "Prolog=check-gpus.sh",
                "Prolog=prolog-mount.sh",
                "Prolog=prolog-clean.sh",
                "Epilog=epilog-clean.sh",
                "Epilog=epilog-mount.sh",
                "Epilog=check-gpus.sh",
            ],
        ),
    ],
)
def test_slurm_conf_names_the_scripts_in_the_order_in_which_they_run(
    laptop: Environment, scripts: dict[str, Any], lines: list[str]
) -> None:
    objects = {(item.kind, item.name): item for item in objects_of(slurm_input(laptop, **{**NONE, **scripts}))}
    controller = spec(objects, "Controller")
    files = objects["ConfigMap", "slurm-prolog"].body["data"] if lines else {}

    assert [line for line in controller["extraConf"].splitlines() if not line.startswith("Partition")] == lines
    assert set(files) == {line.partition("=")[2] for line in lines if line != NOHOLD}
    assert files.get("prolog-mount.sh", FIRST["script"]) == FIRST["script"]
    mounted = [item["name"] for item in controller["configFileRefs"]]
    assert mounted == ["slurm-topology", *(["slurm-prolog"] if lines else [])]


def test_another_script_needs_no_restart_of_slurmctld_and_the_first_one_does(laptop: Environment) -> None:
    def effects(**after: Any) -> set[tuple[str, Effect]]:
        before = slurm_input(laptop, **{**NONE, "prolog": [FIRST]})
        found = changes(objects_of(before), objects_of(slurm_input(laptop, **{**NONE, **after})))
        return {(change.kind, change.effect) for change in found}

    other = {**FIRST, "script": SECOND["script"]}
    assert effects(prolog=[other]) == {("ConfigMap", Effect.IN_PLACE)}
    assert effects(prolog=[FIRST, SECOND]) == {
        ("ConfigMap", Effect.IN_PLACE),
        ("slinky.slurm.net/Controller", Effect.IN_PLACE),
    }
    assert ("slinky.slurm.net/Controller", Effect.RESTARTED) in effects()


GPU, SWITCH, DPU = ("0x10de", "0x030200"), ("0x10de", "0x068000"), ("0x15b3", "0x020000")


@pytest.mark.parametrize(
    ("devices", "listing", "passes"),
    [
        ([DPU], "exit 9", True),
        ([GPU, GPU, SWITCH, DPU], "echo GPU-1; echo GPU-2", True),
        ([GPU, GPU, SWITCH], "echo GPU-1", False),
        ([GPU, GPU], "echo GPU-1; echo Unable to determine the device handle; exit 15", False),
        ([GPU], "exit 9", False),
    ],
)
def test_the_check_compares_gpus_on_the_bus_with_those_that_answer(
    laptop: Environment, tmp_path: Path, devices: list[tuple[str, str]], listing: str, *, passes: bool
) -> None:
    [script] = [item for item in objects_of(slurm_input(laptop)) if item.name == "slurm-prolog"]
    for number, (vendor, kind) in enumerate(devices):
        device = tmp_path / "bus" / f"0000:{number:02}:00.0"
        device.mkdir(parents=True)
        (device / "vendor").write_text(f"{vendor}\n")
        (device / "class").write_text(f"{kind}\n")
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{listing}\n")
    tool.chmod(0o755)
    text = script.body["data"]["check-gpus.sh"]
    for real, replacement in (("/sys/bus/pci/devices", tmp_path / "bus"), ("/usr/bin/nvidia-smi", tool)):
        assert real in text
        text = text.replace(real, str(replacement))
    (tmp_path / "check.sh").write_text(text)

    done = subprocess.run(["/bin/sh", tmp_path / "check.sh"], env={}, check=False)

    assert (done.returncode == 0) is passes
