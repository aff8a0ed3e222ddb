"""OVN services: the class of VPCs is created after the controller that finalizes it, and deleted before it."""

from __future__ import annotations

from components.inputs.manifests import everything
from components.render.manifest import Manifest
from components.specs.reading.loader import load_environment
from jacquard.machine import paths


def test_the_class_of_vpcs_depends_on_the_release_that_removes_its_finalizer() -> None:
    rendered = everything(load_environment("laptop", paths.ROOT / "environments"))
    objects = [item for item in rendered if isinstance(item, Manifest)]
    keys = [(item.kind, item.name) for item in objects]

    [(index, found)] = [(at, item) for at, item in enumerate(objects) if item.kind == "IsolationClass"]

    assert found.after == (("HelmRelease", "vpc-ovn-controller"),)
    assert set(found.after) <= set(keys[:index])
