"""Checks of nodes by instance type: the library's table, with the deviations of the catalogue."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from components.lookups.table_files import table_file
from components.specs.base import DataFile
from components.specs.environment import Environment
from components.specs.health.node_checks import Detector, HealthOverride, NodeCheck, Part, RepairLimit
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.instance_types import InstanceType

FILE = Path(__file__).with_suffix(".yaml")


class NodeCheckTable(DataFile):
    """Content of ``node_checks.yaml``, the library's table of checks."""

    checks: tuple[NodeCheck, ...]
    """All checks, in the order of rendered rules. A line of the log is compared with all patterns."""


@cache
def library_checks() -> dict[str, NodeCheck]:
    """Return the checks of the library by name, in the order of its table."""
    return {check.name: check for check in table_file(FILE, NodeCheckTable).checks}


def applies(part: Part, kind: InstanceType) -> bool:
    """Return whether nodes of ``kind`` have the hardware ``part``."""
    match part:
        case Part.GPU:
            return kind.gpu is not None
        case Part.NVLINK:
            return kind.spans_nodes or (kind.gpu is not None and kind.gpu.nvswitch)
        case Part.NVSWITCH:
            return kind.gpu is not None and kind.gpu.nvswitch
        case Part.FABRIC:
            return kind.gpu is not None and bool(kind.infiniband_ports or kind.roce_ports)
        case Part.ANY:
            return True


def override_of(environment: Environment, check: str, kind: str) -> HealthOverride | None:
    """Return the deviation of ``check`` for instance type ``kind``; None if it has the library's default."""
    for override in environment.health.health_overrides:
        if override.check == check and kind in (override.instance_types or (kind,)):
            return override
    return None


def checks_of(environment: Environment, kind: InstanceType) -> tuple[NodeCheck, ...]:
    """Return the checks of nodes of ``kind``, each with its action and hold time after deviations.

    In a region without node tests, their checks are omitted, and so are actions on idle nodes. The latter are also
    omitted with a backend without repairs by reboot, and so are requested reboots.
    """
    tested = environment.region.nodes.tests is not None
    reboots = environment.region.bare_metal.backend is BareMetalBackend.METAL3
    return tuple(
        _overridden(check, override_of(environment, check.name, kind.name), idle=tested and reboots)
        for check in library_checks().values()
        if applies(check.part, kind) and _is_possible(check, tested=tested, reboots=reboots)
    )


def _is_possible(check: NodeCheck, *, tested: bool, reboots: bool) -> bool:
    """Return whether a region with or without node tests, and repairs by reboot, has a check."""
    if check.requested:
        return reboots and (tested or check.when_idle is None)
    return tested or check.detector is not Detector.NODE_TESTS


def _overridden(check: NodeCheck, override: HealthOverride | None, *, idle: bool) -> NodeCheck:
    changes = override.model_dump(include={"action", "hold_seconds"}, exclude_none=True) if override else {}
    if check.when_idle and (not idle or "action" in changes):
        changes["when_idle"] = None
    return check.model_copy(update=changes) if changes else check


def checks_by_type(environment: Environment, kinds: Iterable[str]) -> dict[str, tuple[NodeCheck, ...]]:
    """Return the checks of each of the instance types ``kinds``, by name; types that are not declared are omitted."""
    known = environment.instance_types.by_name
    return {name: checks_of(environment, known[name]) for name in sorted({*kinds}) if name in known}


def repair_limits(environment: Environment) -> dict[str, RepairLimit]:
    """Return the limits of repairs by instance type: the default, whose name is empty, and deviations from it."""
    limits = environment.health.repair_limits
    by_type = {kind: limit for limit in limits for kind in limit.instance_types or ("",)}
    return {"": RepairLimit(reason="default of the library"), **by_type}


def repair_limit(environment: Environment, kind: str) -> RepairLimit:
    """Return the limit of repairs of hosts of instance type ``kind``."""
    limits = repair_limits(environment)
    return limits.get(kind, limits[""])
