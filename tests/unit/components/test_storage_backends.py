"""A storage backend is a spec, a module and a row: all other code asks a class for its capabilities."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from typing import ClassVar, Literal, get_args

import pytest

from components.inputs import storage as inputs
from components.lookups.pools import clusters
from components.render.storage.storage import STORAGE_BACKENDS, StorageBackend
from components.render.vms import vm_volumes
from components.reports.examples import examples_of
from components.reports.offerings import offerings
from components.rules.checks import check
from components.specs.environment import Environment
from components.specs.storage.storage import StorageClassSpec
from components.specs.storage.storage_class import NetworkClassSpec
from jacquard.machine import paths

MODELS = get_args(get_args(StorageClassSpec)[0])
OWN = ("components/specs/storage/", "components/render/storage/", "jacquard/lab/")
"""Modules of backends, and the simulation, which has independent tables of charts and volumes."""
NAME = re.compile(rf"""["']({"|".join(STORAGE_BACKENDS)})["']""")


class RbdClassSpec(NetworkClassSpec):
    """Another backend: block devices of Ceph, which two nodes attach only during a live migration."""

    driver: Literal["rbd"] = "rbd"
    pool: str
    PER_TENANT = ("pool",)
    ISOLATION = ("pool",)
    NFS = False
    MODES = (("ReadWriteMany", "Block"), ("ReadWriteOnce", "Filesystem"))
    snapshots: ClassVar[None] = None


RBD = StorageBackend(
    chart="ceph-csi-rbd",
    namespace="ceph-csi",
    provisioner="rbd.csi.ceph.com",
    parameters=lambda cluster, spec: {"pool": spec.pool, "volumeNamePrefix": cluster},
)


@pytest.fixture
def with_rbd(region: Environment, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Return environment laptop with a class of the other backend in all clusters."""
    monkeypatch.setitem(STORAGE_BACKENDS, "rbd", RBD)
    block = RbdClassSpec(name="block", pool="<tenant>")
    tenants = tuple(
        tenant.model_copy(
            update={
                "clusters": tuple(
                    cluster.model_copy(update={"storage": (*cluster.storage, "block")}) for cluster in tenant.clusters
                )
            }
        )
        for tenant in region.tenants
    )
    storage = (*region.region.storage, block)
    return region.model_copy(
        update={"tenants": tenants, "region": region.region.model_copy(update={"storage": storage})}
    )


def test_the_contract_of_imports_protects_each_backend() -> None:
    settings = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    [protected] = [
        contract["protected_modules"]
        for contract in settings["contracts"]
        if contract["name"] == "only the modules of a storage backend name its class"
    ]

    assert sorted(model.__module__ for model in MODELS) == protected
    assert list(STORAGE_BACKENDS) == [get_args(model.model_fields["driver"].annotation)[0] for model in MODELS]


def test_no_other_module_names_a_backend() -> None:
    files = chain(*(paths.ROOT.glob(f"{part}/**/*.py") for part in ("components", "jacquard", "policies", "stacks")))
    texts = {file.relative_to(paths.ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}

    assert [name for name, text in texts.items() if not name.startswith(OWN) and NAME.search(text)] == []


def test_another_backend_is_rendered_from_its_row(with_rbd: Environment) -> None:
    [placed, *_] = clusters(with_rbd)
    [catalog] = inputs.of_cluster(with_rbd, placed)
    items = catalog.render()
    made = {item.kind: item.body for item in items if item.name == "block"}

    assert [item.name for item in items if item.kind == "HelmRelease"][-1] == "ceph-csi-rbd"
    assert made["StorageClass"]["provisioner"] == made["VolumeSnapshotClass"]["driver"] == "rbd.csi.ceph.com"
    assert made["StorageClass"]["parameters"] == {"pool": placed.tenant.tenant, "volumeNamePrefix": placed.cluster.name}
    assert made["StorageClass"]["volumeBindingMode"] == "Immediate"


def test_another_backend_is_checked_and_reported_by_its_capabilities(with_rbd: Environment) -> None:
    [offer] = [one for one in offerings(with_rbd).storage if one.storage_class == "block"]
    [block] = [entry for entry in with_rbd.region.storage if entry.name == "block"]

    # The catalogue lacks the version of its chart only.
    assert [problem.rule for problem in check(with_rbd)] == ["references.charts"]
    assert (offer.shared, offer.durable, offer.encrypted, offer.snapshots) == (False, True, False, None)
    assert examples_of(with_rbd)["block"].what == "A pod with a volume, of class block,"
    assert vm_volumes.storage(block, "1Gi")["volumeMode"] == "Block"
