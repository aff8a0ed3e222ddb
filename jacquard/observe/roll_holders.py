"""Rolls that wait on purpose: who holds one, and what ends that."""

from __future__ import annotations

from components.lookups.pools import pools
from components.render.pools.pool_rollout import opening_text
from components.specs.environment import Environment
from components.specs.pools.nodes import Windows
from jacquard.observe.objects import Object, holds
from jacquard.providers.kube.objects import dig


def roll_holders(environment: Environment, pool: str, deployment: Object | None) -> list[str]:
    """Return who holds the roll of a rollout group of ``pool`` (``cluster/pool``), in one line; empty if none waits.

    A paused MachineDeployment still scales and repairs. It waits when machines are not as it says, or when it was
    paused before it made any.
    """
    if deployment is None or dig(deployment, "spec", "paused") is not True:
        return []
    if not holds(deployment, "RollingOut") and dig(deployment, "status", "replicas"):
        return []
    [placed] = [placed for placed in pools(environment) if placed.key == pool]
    window = placed.tenant.changes.window
    if placed.pool.rollout.paused:
        return [f"held by rollout.paused of {pool}"]
    if window is not None and environment.region.nodes.windows is Windows.ENFORCE:
        return [f"held until {opening_text(window)}, when the window of {placed.tenant.tenant} opens"]
    name, namespace = (dig(deployment, "metadata", part) for part in ("name", "namespace"))
    patch = f'kubectl patch machinedeployment {name} -n {namespace} --type=merge -p \'{{"spec":{{"paused":null}}}}\''
    return [f"held by its spec.paused, which no data asks for; lift it: {patch}"]
