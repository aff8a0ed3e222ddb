"""Every data field is read by code that renders, checks, prints or runs.

The test compares names: a field with the name of another attribute that is read counts as read.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache

import components.specs
from components.specs.base import Spec
from jacquard.machine import paths

READERS = ("components", "jacquard", "policies", "stacks")
SPECS = paths.ROOT / "components" / "specs"
PRINTED = "jacquard show capacity|images --format json prints the entry of the catalogue whole"
BY_LOOP = "read by a loop over the fields of its model"
BY_PROPERTY = "read by a property or method of its own model, which others use"
BY_CHART = "read by templates of charts/virtual-machine"
EXCEPTIONS = {
    "BorderSpec.internet": BY_PROPERTY,
    "CampaignProgressSpec.soaked": BY_PROPERTY,
    "ChartCatalogSpec.preference": BY_CHART,
    "ChartCatalogSpec.tolerations": BY_CHART,
    "ChartClassSpec.*": BY_CHART,
    "ChartSizeSpec.instancetype": BY_CHART,
    "ChartValuesSpec.catalog": BY_CHART,
    "ChartValuesSpec.own_image": BY_CHART,
    "ClusterApiSpec.*": BY_PROPERTY,
    "Freed.*": BY_LOOP,
    "GoldenImage.supported": BY_PROPERTY,
    "FabricSpec.vnis": BY_LOOP,
    "InstanceType.ethernet_ports": PRINTED,
    "KubeletSpec.*": BY_LOOP,
    "NamespaceSpec.edit_group": BY_PROPERTY,
    "NamespaceSpec.view_group": BY_PROPERTY,
    "NicsSpec.gbits": PRINTED,
    "NodeTest.burn_in_minutes": BY_PROPERTY,
    "NodeTest.verification_minutes": BY_PROPERTY,
    "OidcSpec.admin_group": BY_PROPERTY,
    "ReceiverSpec.pagerduty_secret": BY_PROPERTY,
    "ReceiverSpec.slack_secret": BY_PROPERTY,
    "SlosSpec.availability": BY_PROPERTY,
    "SlosSpec.latency": BY_PROPERTY,
    "RolloutLimitsSpec.max_unavailable_per_pool": BY_LOOP,
}
"""Fields that are not read by name outside the models, with the reason; ``*``: all fields of the model."""


def models() -> Iterator[type[Spec]]:
    """Yield every model of the data."""
    for module in pkgutil.walk_packages([str(SPECS)], f"{components.specs.__name__}."):
        loaded = importlib.import_module(module.name)
        for _, model in inspect.getmembers(loaded, inspect.isclass):
            if issubclass(model, Spec) and model.__module__ == loaded.__name__:
                yield model


@cache
def attributes_read() -> frozenset[str]:
    """Return the names of all attributes that code outside the models reads."""
    files = [file for folder in READERS for file in (paths.ROOT / folder).rglob("*.py") if SPECS not in file.parents]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    return frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))


def unread() -> set[str]:
    """Return the fields that are not read by name."""
    return {
        f"{model.__name__}.{field}"
        for model in models()
        for field in model.model_fields
        if field in vars(model).get("__annotations__", {}) and field not in attributes_read()
    }


def excepted(field: str) -> bool:
    return field in EXCEPTIONS or f"{field.partition('.')[0]}.*" in EXCEPTIONS


def test_every_field_has_an_effect_or_an_exception() -> None:
    assert {field for field in unread() if not excepted(field)} == set()


def test_no_exception_outlives_its_field() -> None:
    found = unread()
    models_found = {f"{field.partition('.')[0]}.*" for field in found}

    assert {name for name in EXCEPTIONS if name not in found | models_found} == set()
