"""Environments with a waiver of one violation."""

from __future__ import annotations

import datetime as dt

from components.specs.environment import Environment
from components.specs.region.policy import WaiverSpec, WaiversSpec

EXPIRES = dt.date(2027, 3, 2)
VERSION_WAIVER = """  - rule: digests.changed
    subject: csi-driver-nfs
    reason: the version was a typing error
    owner: ops
    ticket: OPS-7
    expires: 2026-12-15
"""
"""Entry of waivers.yaml that permits another version of a chart with the same digest."""


def waived(environment: Environment, rule: str, subject: str, expires: dt.date = EXPIRES) -> Environment:
    """Return ``environment`` with one waiver, of ``rule`` for ``subject``."""
    waiver = WaiverSpec(
        rule=rule, subject=subject, reason="agreed with operations", owner="ops", ticket="OPS-7", expires=expires
    )
    waivers = WaiversSpec(schema_version=WaiversSpec.FORMAT, waivers=(waiver,))
    return environment.model_copy(update={"waivers": waivers})
