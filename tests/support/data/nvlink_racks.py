"""The laptop's region with GPUs whose NVLink spans nodes, which none of its instance types has."""

from __future__ import annotations

from typing import Any

from components.specs.environment import Environment
from components.specs.hosts.instance_types import Scale

KIND = "h100-ib-8"


def racks(environment: Environment, **changed: Any) -> Environment:
    """Return ``environment`` with nodes of `KIND` in rack-scale NVLink domains, and other values of ``changed``."""
    catalog = environment.instance_types
    kinds = tuple(
        kind.model_copy(update={"scale": Scale.RACK, **changed}) if kind.name == KIND else kind
        for kind in catalog.instance_types
    )
    return environment.model_copy(update={"instance_types": catalog.model_copy(update={"instance_types": kinds})})
