"""The chart of tenants' virtual machines: helm renders an order to the same objects as the renderer."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import yaml

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.vms.virtual_machine import Machine
from components.render.vms.vm_chart import chart_values
from components.render.vms.vm_images import NAMESPACE, root_volume
from components.render.vms.vm_offering import VmOfferingInput
from components.render.vms.vm_order import ordered
from components.reports.examples import examples_of
from components.specs.struct import replace
from components.specs.vms.tenant_images import OwnImageSpec
from components.specs.vms.vm_chart import FOLDER, ChartAddressSpec
from components.specs.vms.vm_chart_schema import LEFT_OUT
from components.specs.vms.vm_offering import VirtualMachineSpec
from jacquard.machine import paths
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.vms.vm_chart import offerings, rendered
from tests.support.vms.vm_orders import objects_of, orders

KEPT = {"helm.sh/resource-policy": "keep"}
"""Annotation that keeps a persistent volume after the deletion of a release; a stack protects it instead."""
NOT_OF_A_TENANT = {keys.MANAGED_BY, "pulumi.com/skipAwait"}
"""Labels that name the manager of an object; helm adds its own."""


def values_of(offering: VmOfferingInput, machine: Machine) -> dict[str, Any]:
    """Return the chart values of an order, with its allocated address if it has one."""
    address = machine.public_address
    found = {machine.spec.name: ChartAddressSpec(address=address, host_name=machine.host_name)} if address else {}
    return dict(chart_values(replace(offering, public_addresses=found), machine))


def by_a_release(item: Manifest) -> dict[str, Any]:
    """Return an object in the form and namespace of a release."""
    metadata = {key: value for key, value in item.body["metadata"].items() if key != "namespace"}
    for key in ("labels", "annotations"):
        found = {name: value for name, value in metadata.pop(key, {}).items() if name not in NOT_OF_A_TENANT}
        found |= KEPT if item.protect and key == "annotations" else {}
        metadata |= {key: found} if found else {}
    return {**item.body, "metadata": metadata}


def in_order(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda body: (body["kind"], body["metadata"]["name"]))


def test_an_order_is_the_same_by_helm_and_by_data(tmp_path: Path) -> None:
    asked = {what: (offering, machine) for what, offering, machine in orders()}

    found = rendered(tmp_path, {what: values_of(*one) for what, one in asked.items()}, NAMESPACE)

    for what, one in asked.items():
        assert in_order(found[what]) == in_order([by_a_release(item) for item in objects_of(*one)]), what


def test_an_example_is_the_same_by_helm_and_as_a_manifest(tmp_path: Path) -> None:
    examples = {
        f"{name} {what}": example
        for name in REFERENCES
        for what, example in examples_of(reference(name)).items()
        if example.values is not None
    }

    found = rendered(tmp_path, {what: example.values for what, example in examples.items()}, "looms")

    assert found == {what: list(example.manifests) for what, example in examples.items()}
    assert {"laptop cpu-4", "eu-south-03a l40s-1", "us-east-04a cpu-16"} <= found.keys()


def test_a_root_is_cloned_from_the_golden_volume_of_its_image(tmp_path: Path) -> None:
    [offering] = [one for one in offerings("eu-south-03a") if any(isinstance(i, OwnImageSpec) for i in one.images)]
    images = {image.name: image for image in offering.images if isinstance(image, OwnImageSpec)}
    golden = {
        image: next(item for item in offering.render() if item.name == root_volume(image, offering.sizes[0].root_disk))
        for image in images.values()
    }
    example = chart_values(offering, ordered(offering, offering.sizes[0], offering.images[0], "loom"))
    del example["image"]
    asked = {
        name: {**example, "own_image": image.model_dump(exclude={"name", "version", "size", "os"}, exclude_none=True)}
        for name, image in images.items()
    }

    found = rendered(tmp_path, asked, "looms")

    assert images.keys() == {"weaver", "grader", "retoucher", "archive"}
    for name, image in images.items():
        [root] = found[name][0]["spec"]["dataVolumeTemplates"]
        assert root["spec"]["source"] == golden[image].body["spec"]["source"], name


def test_omitted_values_have_the_defaults_of_the_data() -> None:
    values = yaml.safe_load((paths.ROOT / FOLDER / "values.yaml").read_text(encoding="utf-8"))
    order = VirtualMachineSpec(name="loom", size="cpu-4", image="debian-13").model_dump(mode="json")

    given = {"name", "size", "image", *LEFT_OUT}
    assert values == {name: value for name, value in order.items() if name not in given and value is not None}


def test_the_chart_has_the_version_of_the_project() -> None:
    chart = yaml.safe_load((paths.ROOT / FOLDER / "Chart.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert chart["version"] == project["version"]
