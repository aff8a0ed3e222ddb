"""Input for the release of DPU maintenance holds: owners of hosts, and the limit on unavailable hosts."""

from components.intents.dpus import deployments
from components.lookups.pools import PlacedCluster, clusters
from components.render.network.dpu_release import DpuRelease
from components.render.network.tenant_network import on_dpus
from components.render.program_pods import TOOL
from components.specs.environment import Environment


def dpu_release(environment: Environment) -> DpuRelease | None:
    """Return the input for the release of DPUs of ``environment``; None if operators release DPUs manually."""
    spec, deployed = environment.region.dpus.release, tuple(deployments(environment, environment.allocations.vpcs))
    if spec is None or not deployed:
        return None
    return DpuRelease(
        spec=spec,
        image=str(environment.versions.tool(TOOL)),
        clusters=tuple(placed.cluster.name for placed in clusters(environment) if has_dpus(placed)),
        thresholds=environment.region.thresholds,
        deployments={deployment.name: deployment.vpc for deployment in deployed},
    )


def has_dpus(placed: PlacedCluster) -> bool:
    """Return whether DPUs isolate the hosts of a cluster."""
    return placed.vpc is not None and on_dpus(placed.vpc)
