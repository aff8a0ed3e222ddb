"""Environments with a waiver of one violation."""

from __future__ import annotations

import datetime as dt

from components.specs.environment import Environment
from components.specs.region.policy import WaiverSpec, WaiversSpec

EXPIRES = dt.date(2027, 3, 2)


def waived(environment: Environment, rule: str, subject: str, expires: dt.date = EXPIRES) -> Environment:
    """Return ``environment`` with one waiver, of ``rule`` for ``subject``."""
    waiver = WaiverSpec(
        rule=rule, subject=subject, reason="agreed with operations", owner="ops", ticket="OPS-7", expires=expires
    )
    waivers = WaiversSpec(schema_version=WaiversSpec.FORMAT, waivers=(waiver,))
    return environment.model_copy(update={"waivers": waivers})
