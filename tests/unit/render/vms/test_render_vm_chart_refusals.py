"""Values that the chart of tenants' virtual machines rejects: the same as in the data, with the same messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from components.render.vms.virtual_machine import MOST_INLINE, user_data
from components.render.vms.vm_chart import chart_values
from components.render.vms.vm_images import NAMESPACE
from components.render.vms.vm_order import ordered
from components.specs.base import MISFIT
from components.specs.vms.vm_offering import VirtualMachineSpec, VmUserSpec
from tests.support.vms.vm_chart import offerings, refusal

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICNPZccfq2Qc8plKIZmAmY48pZ1x8O9oQs7K52SutrN7 ops@cloud.example"
HOME = {"name": "home", "size": "1Ti", "storage_class": "shared-vast"}
SPOOL = {"name": "spool", "size": "20Gi", "storage_class": "shared-nfs", "scratch": True}


@pytest.fixture
def example() -> dict[str, Any]:
    [laptop] = offerings("laptop")
    return dict(chart_values(laptop, ordered(laptop, laptop.sizes[0], laptop.images[0], "loom")))


def test_all_invalid_values_are_rejected_together_by_the_schema(tmp_path: Path, example: dict[str, Any]) -> None:
    wrong = {
        "name": "Loom_1",
        "count": 0,
        "snapshots": True,
        "root": {"size": "5GB", "storage_class": "shared-nfs"},
        "ports": [0, 65536],
        "run_strategy": "Sometimes",
        "volumes": [{"name": "a" * 16, "size": "1Gi", "storage_class": "shared-nfs"}],
        "users": [{"name": "ops", "ssh_keys": ["ssh-dss AAAA"]}],
        "own_image": {"http": {"url": "http://images.acme.example/loom", "sha256": "0"}},
    }

    output = refusal(tmp_path, example | wrong, "looms")

    places = ("/name", "/count", "/root/size", "/ports/0", "/ports/1", "/run_strategy", "/volumes/0/name")
    for place in (*places, "/users/0/ssh_keys/0", "/own_image/http/url", "/own_image/http/sha256"):
        assert f"at '{place}'" in output
    assert "additional properties 'snapshots' not allowed" in output


MISFITS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a fleet": (
        {
            "root": None,
            "count": 2,
            "public_ip": True,
            "ports": [],
            "user_data_secret": "first-boot",
            "users": [{"name": "ops", "ssh_keys": [KEY]}],
            "volumes": [HOME, HOME],
        },
        [
            "root: an ephemeral root disk requires namespace virtual-machines; install there, or add root",
            "public_ip: requires namespace virtual-machines; install there, or remove it",
            "volumes: 'home' is listed twice; rename one",
        ],
    ),
    "a machine": (
        {"volumes": [{**SPOOL, "name": "root"}], "own_image": {"claim": {"namespace": "looms", "name": "weaver"}}},
        ["own_image: cannot be combined with image; remove one of the two"],
    ),
    "an image of its own": (
        {
            "image": None,
            "root": None,
            "own_image": {name: {"namespace": "looms", "name": "weaver"} for name in ("claim", "snapshot")},
        },
        [
            "own_image: requires a persistent root disk; add root",
            "own_image: must have one source; write exactly one of http, registry, claim or snapshot",
        ],
    ),
    "no image": ({"image": None}, ["image: is required unless own_image is set; add one of the two"]),
}


@pytest.mark.parametrize("what", MISFITS)
def test_words_that_do_not_fit_together_are_refused_as_in_the_data(
    tmp_path: Path, example: dict[str, Any], what: str
) -> None:
    words, only_here = MISFITS[what]
    order = {name: value for name, value in (example | words).items() if value is not None}

    output = refusal(tmp_path, order, "looms")

    for text in (*only_here, *incompatibilities(order)):
        assert text in output


def incompatibilities(order: dict[str, Any]) -> list[str]:
    """Return the error of the model for an order in the data."""
    fields = VirtualMachineSpec.model_fields
    try:
        VirtualMachineSpec.model_validate({"image": "weaver"} | {key: order[key] for key in order.keys() & fields})
    except ValidationError as error:
        found = [one["msg"] for one in error.errors() if one["type"] == MISFIT]
        assert found
        return found
    return []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"size": "cpu-5"}, "size: 'cpu-5' is not in catalog.sizes (known: cpu-16, cpu-4)"),
        ({"image": "debian-14"}, "image: 'debian-14' is not in catalog.images (known: debian-13, ubuntu-24-04)"),
        (
            {"volumes": [{**SPOOL, "storage_class": "fast"}]},
            "spool: 'fast' is not in catalog.storage_classes (known: shared-nfs, shared-vast)",
        ),
        ({"public_ip": True}, "public_ip: 'loom' is not in catalog.public_addresses (known: )"),
    ],
)
def test_values_missing_in_the_catalog_are_rejected(
    tmp_path: Path, example: dict[str, Any], words: dict[str, Any], message: str
) -> None:
    assert message in refusal(tmp_path, example | words, NAMESPACE)


def test_user_data_of_which_kubevirt_would_not_take_all_are_refused(tmp_path: Path, example: dict[str, Any]) -> None:
    user = VmUserSpec.model_construct(name="ops", ssh_keys=(f"ssh-rsa {'A' * MOST_INLINE}",), sudo=False)
    spec = VirtualMachineSpec(name="loom", size="cpu-4", image="debian-13").model_copy(update={"users": (user,)})
    size = len(user_data(spec, own_user=True).encode())

    output = refusal(tmp_path, example | {"users": [user.model_dump(mode="json")]}, "looms")

    text = f"users and mounts need {size} bytes of user data, but KubeVirt accepts {MOST_INLINE} inline;"
    assert f"user_data_secret: {text} store user data in a Secret and name it here" in output
