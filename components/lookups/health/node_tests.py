"""Tests of nodes: the library's table, and the tests of each instance type, pool and cluster."""

from functools import cache
from math import ceil
from pathlib import Path

from components.lookups.health.node_checks import applies, checks_of
from components.lookups.pools import PlacedCluster
from components.lookups.table_files import table_file
from components.render.health.node_tests import NodeTests, PoolTests, RepairTimes
from components.render.program_pods import TOOL
from components.specs.base import DataFile
from components.specs.environment import Environment
from components.specs.health.node_checks import Part
from components.specs.health.node_tests import NodeTest, NodeTestsSpec, Phase
from components.specs.hosts.instance_types import InstanceType
from components.specs.pools.node_pool import BurnIn, NodePoolSpec
from components.specs.pools.nodes import Windows
from components.specs.region.tenant import Approval, TenantSpec

FILE = Path(__file__).with_suffix(".yaml")


class NodeTestTable(DataFile):
    """Content of ``node_tests.yaml``, the library's table of tests."""

    tests: tuple[NodeTest, ...]
    """All tests, in the order in which they run on a node."""


@cache
def library_node_tests() -> tuple[NodeTest, ...]:
    """Return the tests of the library, in the order in which they run."""
    return table_file(FILE, NodeTestTable).tests


def node_tests_of(kind: InstanceType, phase: Phase, *, gpus: bool = True) -> tuple[NodeTest, ...]:
    """Return the tests of nodes of ``kind`` in ``phase``; with ``gpus`` False, those without GPUs."""
    parts = {part for part in Part if applies(part, kind) and (gpus or part is Part.ANY)}
    return tuple(test for test in library_node_tests() if test.part in parts and test.minutes(phase) is not None)


def round_minutes(tests: tuple[NodeTest, ...], phase: Phase) -> int:
    """Return the expected duration of one run of ``tests`` in ``phase``."""
    return sum(test.minutes(phase) or 0 for test in tests)


def needed_tools(environment: Environment) -> tuple[str, ...]:
    """Return the names of the images that the tests of all instance types in ``environment`` need, sorted."""
    kinds = environment.instance_types.instance_types
    tests = [test for kind in kinds for phase in Phase for test in node_tests_of(kind, phase)]
    return tuple(sorted({TOOL, *(test.tool for test in tests)}))


def cluster_tests(environment: Environment, placed: PlacedCluster, namespace: str) -> NodeTests | None:
    """Return the tests of the nodes of a cluster by Jobs in ``namespace``.

    None if no pool is tested and no idle node repaired.
    """
    nodes = environment.region.nodes
    if nodes.tests is None or nodes.gate is None:
        return None
    known = environment.instance_types.by_name
    pools = {pool.name: _of_pool(environment, pool, known.get(pool.instance_type)) for pool in placed.cluster.pools}
    tested = {name: tests for name, tests in pools.items() if tests and (tests.by_phase or tests.when_idle)}
    if not tested:
        return None
    return NodeTests(
        cluster=placed.cluster.name,
        namespace=namespace,
        gate=nodes.gate.condition,
        pools=tested,
        interval_minutes=nodes.tests.verification_interval_minutes,
        images={tool.name: str(tool) for tool in environment.versions.tools},
        repairs=repair_times(environment, placed.tenant) if any(tests.when_idle for tests in tested.values()) else None,
    )


def repair_times(environment: Environment, tenant: TenantSpec) -> RepairTimes | None:
    """Return the times at which idle nodes of ``tenant`` with soft faults may be repaired; None if at any time."""
    enforced, changes = environment.region.nodes.windows is Windows.ENFORCE, tenant.changes
    protects = (freeze for freeze in environment.policy.freezes if enforced and freeze.protects(tenant.tenant))
    times = RepairTimes(
        window=changes.window if enforced else None,
        freezes=tuple(protects),
        approval=changes.repair_approval is Approval.REQUIRED,
    )
    return times if times.window or times.freezes or times.approval else None


def _of_pool(environment: Environment, pool: NodePoolSpec, kind: InstanceType | None) -> PoolTests | None:
    nodes = environment.region.nodes
    if kind is None or nodes.tests is None:
        return None
    gpus, gated = _gpus_are_whole(environment, pool), pool.health.burn_in is BurnIn.GATED and nodes.burn_in is None
    burn_in = node_tests_of(kind, Phase.BURN_IN, gpus=gpus) if gated else ()
    return PoolTests(
        kind=kind,
        burn_in=burn_in,
        rounds=burn_in_rounds(nodes.tests, burn_in),
        verification=node_tests_of(kind, Phase.VERIFICATION, gpus=gpus),
        when_idle=tuple(
            check.condition for check in checks_of(environment, kind) if check.when_idle and check.condition
        ),
    )


def _gpus_are_whole(environment: Environment, pool: NodePoolSpec) -> bool:
    """Return whether containers can use whole GPUs of the nodes: GPUs are neither shared nor reserved for VMs."""
    images = environment.images.images
    for_vms = any(image.version == pool.image and image.contents.vfio_devices for image in images)
    return pool.gpu_sharing is None and not for_vms


def burn_in_rounds(spec: NodeTestsSpec, tests: tuple[NodeTest, ...]) -> int:
    """Return the number of rounds of a burn-in with ``tests``."""
    return max(1, ceil(spec.burn_in_hours * 60 / max(1, round_minutes(tests, Phase.BURN_IN))))


def burn_in_minutes(environment: Environment, pool: NodePoolSpec) -> int:
    """Return the expected duration of the burn-in of a new node of ``pool`` by Jobs; 0 without such a burn-in."""
    tests = _of_pool(environment, pool, environment.instance_types.by_name.get(pool.instance_type))
    return tests.rounds * round_minutes(tests.burn_in, Phase.BURN_IN) if tests else 0
