"""Limit on broken nodes up to which nodes are repaired, per failure domain, and the startup timeout of new nodes."""

import math

from components.lookups.health.node_tests import burn_in_minutes
from components.lookups.pools import declared_spares
from components.lookups.spares import spares_for
from components.render.hosts.bare_metal_controllers import PROVISIONED_AT_ONCE
from components.render.network.dpus import INSTALLED_AT_ONCE
from components.specs.base import limit_of
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.pools.nodes import FirmwareUpdate, StepDurationsSpec

_MINUTE = 60
_UNMEASURED = StepDurationsSpec(drain_minutes=0, deprovision_minutes=15, boot_minutes=15, join_minutes=1)
"""Durations in a region without measured ones. They exceed the time that most hosts need: with a shorter timeout, hosts
that only wait in the queue would be remediated.
"""


def most_broken(environment: Environment, pool: NodePoolSpec, nodes: int) -> int:
    """Return the maximum number of broken nodes in a group of ``nodes`` at which nodes are repaired.

    If more nodes are broken, none is repaired, because the likely cause is the rack, the switch or the control plane. A
    failed repair uses a spare host, so the limit is the number of spares. One node is repaired even without a spare,
    since the node is lost in any case. The limit never exceeds the pool's ``health.max_unhealthy``, nor the size of an
    NVLink domain, whose spares are inside the domain.
    """
    spares = spares_for(nodes, declared_spares(environment, pool))
    return min(limit_of(pool.health.max_unhealthy, nodes), max(1, spares))


def startup_seconds(environment: Environment, cluster: str, pool: NodePoolSpec) -> int:
    """Return the startup timeout of a new node in a pool of ``cluster``, in seconds, including its time in queues.

    Cluster API measures from the creation of the Machine until its infrastructure is ready, which Metal3 reports only
    when the Node exists. If a Machine exceeds the timeout while it waits, Metal3 powers off its host later, when the
    node joins. The timeout must therefore exceed the longest wait, which is that of the first day. Then all hosts
    of the controller, not only those of the pool, are inspected, prepared and provisioned in one queue. In addition, no
    host is claimed until its DPU is installed, which is a queue of all DPUs of the region. Before a VPC on DPUs exists,
    the queue counts as well, so that the first one changes nothing for other tenants.

    The sum is an upper bound. It depends on declared limits, the catalogue and the inventory only, so that a promotion
    or an assignment of hosts of another tenant changes no health check.
    """
    steps = environment.region.nodes.durations or _UNMEASURED
    flash = steps.firmware_minutes if _updates_firmware(environment) else 0
    turn = steps.inspect_minutes + flash + steps.deprovision_minutes + steps.boot_minutes
    queued = provisioning_turns(_most_hosts(environment, cluster)) * turn
    queued += math.ceil(len(environment.hosts) / INSTALLED_AT_ONCE) * steps.dpu_minutes
    return pool.health.node_startup_timeout_seconds + queued * _MINUTE


def reboot_seconds(environment: Environment, kind: InstanceType) -> int:
    """Return the time after which a rebooted host of ``kind`` is powered off again, in seconds.

    With firmware updates on reboot, Metal3 updates the firmware of a host before it powers it on for its node
    (metal3-io/baremetal-operator:internal/controller/metal3.io/baremetalhost_controller.go, manageHostPower), while the
    time of the repair elapses (metal3-io/cluster-api-provider-metal3:controllers/metal3remediation_controller.go).
    """
    nodes = environment.region.nodes
    updated = any(
        kind.name in baseline.instance_types and (baseline.updates or baseline.bios)
        for baseline in environment.firmware.firmware_baselines
    )
    flash = (nodes.durations or _UNMEASURED).firmware_minutes if updated else 0
    return kind.reboot_timeout_seconds + (flash * _MINUTE if nodes.firmware_updates is FirmwareUpdate.ON_REBOOT else 0)


def longest_burn_in_seconds(environment: Environment, pool: NodePoolSpec) -> int:
    """Return the maximum duration of the burn-in of a new node of ``pool`` by Jobs, in seconds; 0 without a burn-in.

    Each test may take twice its expected duration, after which the Job fails.
    """
    return 2 * burn_in_minutes(environment, pool) * _MINUTE


def replacement_minutes(environment: Environment, pool: NodePoolSpec) -> int:
    """Return the expected duration of a node's replacement, from the end of its drain until its burn-in has passed."""
    steps = environment.region.nodes.durations or _UNMEASURED
    turn = steps.deprovision_minutes + steps.boot_minutes + steps.join_minutes
    return turn + burn_in_minutes(environment, pool)


def _updates_firmware(environment: Environment) -> bool:
    """Return whether a baseline of the hosts updates firmware, which occupies a place in the controller's queue."""
    baselines = environment.firmware.firmware_baselines
    updated = {kind for baseline in baselines if baseline.updates for kind in baseline.instance_types}
    return bool(updated) and any(host.instance_type in updated for host in environment.hosts)


def _most_hosts(environment: Environment, cluster: str) -> int:
    """Return the maximum number of hosts in the queue of the controller of ``cluster``."""
    limits = {controller.name: controller.max_hosts for controller in environment.region.bare_metal.controllers}
    entry, hosts = environment.allocations.clusters.get(cluster), len(environment.hosts)
    return min(hosts, limits.get(entry.controller or "", hosts) if entry else hosts)


def provisioning_turns(nodes: int) -> int:
    """Return the number of batches in which one controller provisions hosts for ``nodes`` requested simultaneously."""
    return math.ceil(nodes / PROVISIONED_AT_ONCE)
