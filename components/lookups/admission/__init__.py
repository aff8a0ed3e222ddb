"""Policies that API servers can evaluate: a CEL expression for each (``<policy>.yaml``)."""

from functools import cache
from pathlib import Path

import yaml

from components.render.region.admission_rule import AdmissionRule


@cache
def admission_rules() -> tuple[AdmissionRule, ...]:
    """Return all rules, by name of the policy."""
    files = sorted(Path(__file__).parent.glob("*.yaml"))
    return tuple(AdmissionRule.model_validate(yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)) for file in files)
