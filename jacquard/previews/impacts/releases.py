"""Releases of DPUs: how many hosts are away at a time while the platform changes their DPUs, and for how long."""

import math
from collections.abc import Sequence

from components.lookups.effects.effect import Effect, When
from components.specs.environment import Environment
from jacquard.previews.impacts.impact import Release
from jacquard.previews.impacts.machines import Machines


class Releases:
    """Estimates how the release controller of a region (``dpus.release``) takes hosts away."""

    def __init__(self, environment: Environment, machines: Machines) -> None:
        self._limits = environment.region.dpus.release
        self._steps = environment.region.nodes.durations
        self._machines = machines

    def of(self, effect: Effect, when: When, hosts: Sequence[str]) -> Release | None:
        """Return the release of ``hosts``, which are in one VPC; None if no node runs there, or for manual releases.

        A node is replaced before its rollout group loses the next one. The duration assumes that the new node waits for
        the host of the old one.
        """
        used = [host for host in hosts if self._machines.counts_as_node(host)]
        if self._limits is None or when is not When.IN_TURN or not used:
            return None
        away = min(self._limits.max_away_per_vpc, self._limits.max_away, len(used), len(self._machines.groups(used)))
        if self._steps is None:
            return Release(out_at_once=away, minutes=None, gpu_hours=None)
        steps = self._steps
        flash = steps.dpu_minutes if effect is Effect.RE_FLASHED else 0
        turn = steps.drain_minutes + steps.deprovision_minutes + flash + steps.boot_minutes + steps.join_minutes
        return Release(
            out_at_once=away,
            minutes=math.ceil(len(used) / away) * turn,
            gpu_hours=round(self._machines.gpus(used) * turn / 60, 1),
        )
