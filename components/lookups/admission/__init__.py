"""Policies that API servers can evaluate: a CEL expression for each (``<policy>.yaml``)."""

from functools import cache
from pathlib import Path

from components.lookups.table_files import table_file
from components.render.region.admission_rule import AdmissionRule


@cache
def admission_rules() -> tuple[AdmissionRule, ...]:
    """Return all rules, by name of the policy."""
    files = sorted(Path(__file__).parent.glob("*.yaml"))
    return tuple(table_file(file, AdmissionRule) for file in files)
