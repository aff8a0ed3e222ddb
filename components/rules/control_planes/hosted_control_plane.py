"""Rules about settings of clusters, pools and data stores that contradict each other, the hardware or the backend."""

import datetime as dt
from collections.abc import Iterator

from components.lookups.kubeconfig_readers import readers_of
from components.lookups.pools import clusters, place, pools, problem, wanted_nodes
from components.render import labels as keys
from components.render.backends import CONTROL_PLANES
from components.render.platform_pods import KUBECTL
from components.render.pools.node_pool import NODE_DOMAIN
from components.rules.rule import AdvisoryPeriod, Rules, advisory
from components.rules.tools import missing_tool
from components.specs.base import DEDICATED, Stage, limit_of
from components.specs.environment import Environment
from components.specs.hosts.instance_types import Scale
from components.specs.reading.loader import INSTANCE_TYPES, REGION
from components.specs.reading.problems import Problem, listed, one_of
from components.specs.region.region import RegionSpec

AREA = "clusters"
"""Prefix of the names of these rules in waivers and reports."""

OUR_LABELS = (
    keys.NODE_POOL,
    "node-restriction.kubernetes.io/instance-type",
    keys.NODE_FAILURE_DOMAIN,
    keys.NODE_ROLE,
)
"""Labels that the pool renderer writes to every Node."""
COMMANDS = (".cluster.x-k8s.io", ".metal3.io")
"""Suffixes of annotation domains whose annotations pause, delete, block or remediate the object."""
QUORUMS = (1, 3, 5)
"""Allowed values of ``control_plane.replicas`` for k0smotron, which creates as many etcd members."""


def state_and_context(environment: Environment) -> Iterator[Problem]:
    """Report environments on real hardware without ``state`` or ``context``."""
    region: RegionSpec = environment.region
    if region.stage is Stage.REHEARSAL:
        return
    for key, example in (("state", '{backend: "s3://...", secrets_provider: "awskms://..."}'), ("context", "<name>")):
        if getattr(region, key) is None:
            text = f"is required at stage {region.stage}; add {key}: {example}"
            yield problem(environment, REGION, (key,), text)


def rollouts(environment: Environment) -> Iterator[Problem]:
    """Report pools whose rollout would never replace a node, or would replace all nodes simultaneously."""
    for placed in pools(environment):
        amount, nodes = placed.pool.rollout.max_unavailable, wanted_nodes(environment, placed.pool)
        limit, path = limit_of(amount, nodes), (*placed.path, "rollout", "max_unavailable")
        if limit < 1:
            text = f"{amount} would never replace a node; write at least 1"
            yield problem(environment, placed.file, path, text)
        elif limit >= nodes > 1:
            text = f"{amount} would replace all {nodes} nodes simultaneously; write at most {nodes - 1}"
            yield problem(environment, placed.file, path, text)


def pool_racks(environment: Environment) -> Iterator[Problem]:
    """Report pools with ``racks`` of an instance type that is allocated by node."""
    for placed in pools(environment):
        kind = environment.instance_types.by_name.get(placed.pool.instance_type)
        if placed.pool.racks is not None and kind and kind.scale is not Scale.RACK:
            at = environment.instance_types.instance_types.index(kind)
            there = place(environment, INSTANCE_TYPES, ("instance_types", at, "scale"))
            text = (
                f"{kind.name} is allocated by node, not by rack ({there}); write nodes:"
                f" {placed.pool.racks * kind.nodes_per_rack} instead"
            )
            yield problem(environment, placed.file, (*placed.path, "racks"), text)


def pool_labels(environment: Environment) -> Iterator[Problem]:
    """Report pool labels that the platform sets itself."""
    for placed in pools(environment):
        for key in placed.pool.labels:
            if key in OUR_LABELS:
                text = f"is written by the platform ({listed(OUR_LABELS)}); rename it"
                yield problem(environment, placed.file, (*placed.path, "labels", key), text)
            if f"{NODE_DOMAIN}/{key}" in placed.pool.labels:
                text = f"becomes {NODE_DOMAIN}/{key}, which is listed here too; remove one"
                yield problem(environment, placed.file, (*placed.path, "labels", key), text)


def pool_annotations(environment: Environment) -> Iterator[Problem]:
    """Report pool annotations that control controllers, because the annotations would affect each node permanently."""
    for placed in pools(environment):
        for key in placed.pool.annotations:
            if f".{key.rpartition('/')[0]}".endswith(COMMANDS):
                text = (
                    "commands a controller on each node of the pool, permanently; remove it, and annotate the intended"
                    " Machine instead"
                )
                yield problem(environment, placed.file, (*placed.path, "annotations", key), text)


def canaries(environment: Environment) -> Iterator[Problem]:
    """Report pools whose canary wave would be the whole pool."""
    for placed in pools(environment):
        canary, nodes = placed.pool.rollout.canary, wanted_nodes(environment, placed.pool)
        if 0 < nodes <= canary:  # A pool without nodes is retired, or has an instance type that is not declared.
            text = f"{canary} of {nodes} nodes would leave no node on the old image"
            text += f"; write at most {nodes - 1}" if nodes > 1 else "; write 0"
            yield problem(environment, placed.file, (*placed.path, "rollout", "canary"), text)


def quorums(environment: Environment) -> Iterator[Problem]:
    """Report data stores whose number of members is even, or invalid for the endpoints or the backend."""
    region = environment.region
    for index, store in enumerate(region.control_planes.data_stores):
        path = ("control_planes", "data_stores", index)
        if store.members % 2 == 0:
            yield problem(environment, REGION, (*path, "members"), _even(store.members))
        count = len(store.endpoints)
        if store.is_existing and count not in {1, store.members}:
            text = f"has {count} endpoints for {store.members} members; list each member, or one shared address"
            yield problem(environment, REGION, (*path, "endpoints"), text)
    dedicated = region.control_planes.dedicated
    if dedicated and dedicated.members % 2 == 0:
        yield problem(environment, REGION, ("control_planes", "dedicated", "members"), _even(dedicated.members))
    if not CONTROL_PLANES[region.control_planes.backend].etcd_by_replicas:
        return
    for placed in clusters(environment):
        replicas = placed.cluster.control_plane.replicas
        if placed.cluster.control_plane.data_store == DEDICATED and replicas not in QUORUMS:
            text = (
                f"{replicas} is not a valid size for the etcd that {region.control_planes.backend} creates; write"
                f" {one_of(map(str, QUORUMS))}"
            )
            yield problem(environment, placed.file, (*placed.path, "control_plane", "replicas"), text)


def endpoints(environment: Environment) -> Iterator[Problem]:
    """Report data stores with the same etcd endpoint, because each would count only a part of the clusters."""
    first: dict[str, str] = {}
    for index, store in enumerate(environment.region.control_planes.data_stores):
        for at, endpoint in enumerate(store.endpoints):
            path = ("control_planes", "data_stores", index, "endpoints", at)
            if endpoint in first:
                text = f"'{endpoint}' is duplicated, first in {first[endpoint]}; remove one"
                yield problem(environment, REGION, path, text)
            first.setdefault(endpoint, place(environment, REGION, path))


@advisory(AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1)))
def kubeconfig_readers(environment: Environment) -> Iterator[Problem]:
    """Report clusters whose kubeconfig is read by pods that no job restarts, because its tool image is missing.

    The client certificate of the kubeconfig is valid for one year. Pods that started before its renewal lose access.
    """
    missing = missing_tool(environment, KUBECTL)
    for placed in clusters(environment) if missing else ():
        if names := readers_of(environment, placed):
            text = f"pods that read the kubeconfig when they start ({listed(names)}) are restarted by {missing}"
            yield problem(environment, placed.file, placed.path, text)


def _even(members: int) -> str:
    return f"{members} members survive no more failures than {members - 1}; write {members - 1} or {members + 1}"


RULES = Rules(
    references=(pool_racks,),
    data=(state_and_context, rollouts, canaries, pool_labels, pool_annotations, quorums, endpoints, kubeconfig_readers),
)
