"""Finds rollouts that are paused intentionally, by whom, and how to resume them."""

from __future__ import annotations

from components.lookups.pools import pools
from components.render.pools.pool_rollout import opening_text
from components.specs.environment import Environment
from components.specs.pools.nodes import Windows
from jacquard.observe.objects import Object, holds
from jacquard.providers.kube.objects import dig


def roll_holders(environment: Environment, pool: str, deployment: Object | None) -> list[str]:
    """Return the reason why the rollout of a group of ``pool`` (``cluster/pool``) is paused; empty if it is not paused.

    A paused MachineDeployment still scales and repairs. Its rollout waits if machines differ from its template, or if
    it was paused before it created any.
    """
    if deployment is None or dig(deployment, "spec", "paused") is not True:
        return []
    if not holds(deployment, "RollingOut") and dig(deployment, "status", "replicas"):
        return []
    [placed] = [placed for placed in pools(environment) if placed.key == pool]
    window = placed.tenant.changes.window
    if placed.pool.rollout.paused:
        return [f"paused by rollout.paused of {pool}"]
    if window is not None and environment.region.nodes.windows is Windows.ENFORCE:
        return [f"paused until {opening_text(window)}, when the window of {placed.tenant.tenant} opens"]
    name, namespace = (dig(deployment, "metadata", part) for part in ("name", "namespace"))
    patch = f'kubectl patch machinedeployment {name} -n {namespace} --type=merge -p \'{{"spec":{{"paused":null}}}}\''
    return [f"paused by its spec.paused, which the data does not set; resume it: {patch}"]
