"""Status of the node pools of a region, counted by machines and evaluated by the rules of Cluster API.

A group is settled if the controller has observed the last change, all counters agree, its conditions confirm the
result, and the declared number of Machines exists, all with the pinned image. Counters alone are not sufficient: during
a large scale-up and before a rollout starts, they do not differ from the final values.
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from components.lookups.pools import pools, wanted_nodes
from components.programs.slurm_reservations import HOOK
from components.render.labels import FINGERPRINT
from components.render.pools.node_pool import group_name
from components.render.pools.pool_rollout import opening_text
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.keys import domain_of, group_key, pool_key
from components.specs.locks import GroupAllocation
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.pools.nodes import Windows
from components.specs.struct import Struct
from jacquard.observe.backends import bare_metal
from jacquard.observe.image_pulls import FailedPull, failed_pulls, texts
from jacquard.observe.nodes.burn_ins import NodesInBurnIn, burn_in_durations, nodes_in_burn_in
from jacquard.observe.nodes.failed_hosts import waits_for_spare
from jacquard.observe.objects import UNKNOWN, Object, condition, holds, key
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig

_CLONED_FROM = "cluster.x-k8s.io/cloned-from-name"
_DEPLOYMENT = "cluster.x-k8s.io/deployment-name"
_DRAINING, _HELD = "DrainingNode", "WaitingForPreDrainHook"
"""Reasons of a Machine's condition Deleting while its node is drained, and while a hook holds it before that."""
_REASONS_SHOWN = 3


class Group(Struct):
    """A rollout group: the nodes of a pool in one failure domain."""

    name: str
    failure_domain: str
    image: str
    """Pinned image."""
    total: int
    machines: int
    ready: int
    updated: int
    images: dict[str, int]
    """Number of machines by the image with which they were created."""
    fingerprint: str | None
    """Fingerprint of the intent in the applied MachineDeployment; None if there is no MachineDeployment."""
    settled: bool
    settled_since: str | None
    """Time at which the last node became ready; None if the group is not settled, or has no node."""
    why: list[str]
    """Reasons why the group is not settled, causes before counters; empty if it is settled."""
    burn_in: NodesInBurnIn | None
    """Nodes in burn-in, if the group is not settled for this reason only."""


class Pool(Struct):
    """Status of a node pool, summed over its rollout groups."""

    cluster: str
    name: str
    instance_type: str
    total: int
    ready: int
    updated: int
    images: dict[str, int]
    settled: bool
    groups: list[Group]


@dataclass(slots=True)
class Pools:
    """Index of all machines, built in a single pass over the thousands of machines of a region."""

    environment: Environment
    seen: Observation
    machines: dict[tuple[str, str], list[Object]] = field(init=False)
    """Machines by namespace and MachineDeployment."""
    image_of: dict[tuple[str, str], str] = field(init=False)
    """Image of the template from which an infrastructure machine was cloned, by namespace and name."""
    failed_pulls: dict[tuple[str, str], list[FailedPull]] = field(init=False)
    """Images that cannot be pulled, by cluster and node."""
    burn_ins: Mapping[tuple[str, str], dt.timedelta] = field(init=False)
    """Expected duration of the burn-in, by cluster and pool."""

    def __post_init__(self) -> None:
        versions = {image.sha256: image.version for image in self.environment.images.images}
        metal = bare_metal(self.environment)
        (_, template), (_, machine) = metal.template, metal.machine
        images = {key(body): versions.get(metal.image(body) or "", UNKNOWN) for body in self.seen.of(template)}
        self.image_of = {}
        for body in self.seen.of(machine):
            namespace, name = key(body)
            origin = str(dig(body, "metadata", "annotations", _CLONED_FROM))
            self.image_of[namespace, name] = images.get((namespace, origin), UNKNOWN)
        self.machines = {}
        for body in self.seen.of("Machine"):
            deployment = str(dig(body, "metadata", "labels", _DEPLOYMENT))
            self.machines.setdefault((key(body)[0], deployment), []).append(body)
        self.burn_ins = burn_in_durations(self.environment)
        self.failed_pulls = {}
        for cluster in (cluster.name for tenant in self.environment.tenants for cluster in tenant.clusters):
            for pull in failed_pulls(self.seen.of("Pod", cluster)):
                self.failed_pulls.setdefault((cluster, pull.node), []).append(pull)

    def pool(self, cluster: ClusterSpec, pool: NodePoolSpec) -> Pool:
        """Return the status of a pool."""
        mine = pool_key(cluster.name, pool.name)
        groups = [
            self.group(cluster.name, pool.name, domain_of(group), allocation)
            for group, allocation in sorted(self.environment.allocations.groups_by_pool.get(mine, {}).items())
        ]
        images: Counter[str] = Counter()
        for group in groups:
            images.update(group.images)
        return Pool(
            cluster=cluster.name,
            name=pool.name,
            instance_type=pool.instance_type,
            total=sum(group.total for group in groups) if pool.autoscaling else wanted_nodes(self.environment, pool),
            ready=sum(group.ready for group in groups),
            updated=sum(group.updated for group in groups),
            images=dict(sorted(images.items())),
            settled=bool(groups) and all(group.settled for group in groups),
            groups=groups,
        )

    def group(self, cluster: str, pool: str, domain: str, size: GroupAllocation) -> Group:
        """Return the status of a rollout group with ``size`` nodes, or the number that its autoscaler requests."""
        name = group_name(cluster, pool, domain)
        deployment = self.seen.management_object("MachineDeployment", cluster, name)
        least = size.nodes if size.max_nodes is None else size.min_nodes or 0
        total = min(max(dig(deployment, "spec", "replicas") or 0, least), size.most_nodes)
        every = self.machines.get((cluster, name), [])
        machines = [body for body in every if not dig(body, "metadata", "deletionTimestamp")]
        pins, place = self.environment.image_pins, group_key(pool_key(cluster, pool), domain)
        image = pins.node(place).image if place in pins.groups else UNKNOWN
        images = Counter(
            self.image_of.get((cluster, str(dig(body, "spec", "infrastructureRef", "name"))), UNKNOWN)
            for body in machines
        )
        burn_in, unpulled = self._burn_in(cluster, pool, machines), self._unpulled(cluster, machines)
        rest = _unsettled(deployment, machines, total, burn_in) or _old_images(image, images)
        burn_in = None if rest or unpulled else burn_in
        if burn_in is not None:
            why = [_in_burn_in(burn_in, total)]
        elif why := rest or _unsettled(deployment, machines, total):
            waits = roll_holders(self.environment, pool_key(cluster, pool), deployment)
            why = [*waits, *unpulled, *_held(every), *_drains(every), *why]
            why += _hints(self.seen, cluster, name, machines)
        return Group(
            name=name,
            failure_domain=domain,
            image=image,
            fingerprint=dig(deployment, "metadata", "annotations", FINGERPRINT),
            total=total,
            machines=len(machines),
            ready=sum(holds(body, "Ready") for body in machines),
            updated=sum(holds(body, "UpToDate") for body in machines),
            images=dict(sorted(images.items())),
            settled=not why,
            settled_since=None if why else _ready_since(machines),
            why=why,
            burn_in=burn_in,
        )

    def _burn_in(self, cluster: str, pool: str, machines: list[Object]) -> NodesInBurnIn | None:
        gate, expected = self.environment.region.nodes.gate, self.burn_ins.get((cluster, pool))
        if gate is None or expected is None or self.seen.at is None:
            return None
        return nodes_in_burn_in(machines, gate.condition, expected, self.seen.at)

    def _unpulled(self, cluster: str, machines: list[Object]) -> list[str]:
        """Return the images that pods on nodes of ``machines`` cannot pull, at most three lines."""
        nodes = (str(dig(body, "status", "nodeRef", "name")) for body in machines if not holds(body, "Ready"))
        return texts(pull for node in nodes for pull in self.failed_pulls.get((cluster, node), ()))[:_REASONS_SHOWN]


def _ready_since(machines: list[Object]) -> str | None:
    """Return the time at which the last of ``machines`` became ready; None if a machine does not report it."""
    moments = [condition(body, "Ready").get("lastTransitionTime") for body in machines]
    return max(map(str, moments)) if moments and all(moments) else None


def _in_burn_in(nodes: NodesInBurnIn, total: int) -> str:
    until = dt.datetime.fromisoformat(nodes.until)
    return f"{nodes.nodes} of {total} nodes in burn-in until {until.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def _unsettled(
    deployment: Object | None, machines: list[Object], total: int, burn_in: NodesInBurnIn | None = None
) -> list[str]:
    """Return the reason why a MachineDeployment is not settled, the nearest cause only.

    Args:
        deployment: the MachineDeployment; None if it does not exist.
        machines: its machines.
        total: declared number of nodes.
        burn_in: nodes that are expected to be unavailable.
    """
    if deployment is None:
        return ["its MachineDeployment does not exist"]
    status = deployment.get("status") or {}
    if status.get("observedGeneration") != dig(deployment, "metadata", "generation"):
        return ["the controller has not observed the last change yet"]
    wanted = dig(deployment, "spec", "replicas")
    if wanted != total:
        return [f"the MachineDeployment declares {wanted} nodes, the data {total}"]
    ready = sum(holds(body, "Ready") for body in machines)
    if len(machines) != total or ready + (burn_in.nodes if burn_in else 0) != total:
        return [f"{ready} of {total} nodes ready, {len(machines)} machines exist"]
    counters = {"replicas": total, "readyReplicas": ready, "availableReplicas": ready, "upToDateReplicas": total}
    differing = [f"{name} {status.get(name, 0)}" for name, count in counters.items() if status.get(name, 0) != count]
    if differing:
        return [f"{', '.join(differing)} of {total}"]
    expected = {} if burn_in else {"Available": "True"}
    expected |= {"RollingOut": "False", "MachinesUpToDate": "True"}
    wrong = [kind for kind, value in expected.items() if not holds(deployment, kind, value)]
    return [f"condition {kind} is {condition(deployment, kind).get('status', 'not set')}" for kind in wrong]


def _old_images(pinned: str, images: Counter[str]) -> list[str]:
    return [
        f"{count} machines run {image}, pinned is {pinned}"
        for image, count in sorted(images.items())
        if image != pinned
    ]


def _held(machines: list[Object]) -> list[str]:
    """Return the reservations of Slurm that hold deleted machines, at most three lines."""
    held = [body for body in machines if condition(body, "Deleting").get("reason") == _HELD]
    reserved = [(key(body)[1], dig(body, "metadata", "annotations", HOOK)) for body in held]
    lines = [f"{name} waits for the end of Slurm's reservation {value}" for name, value in reserved if value]
    return lines[:_REASONS_SHOWN]


def _drains(machines: list[Object]) -> list[str]:
    """Return the pods that block deleted machines, at most three lines."""
    drained = [body for body in machines if condition(body, "Deleting").get("reason") == _DRAINING]
    messages = [(key(body)[1], str(condition(body, "Deleting").get("message")).splitlines()[1:]) for body in drained]
    lines = [f"{name} is being drained: {line.removeprefix('* ')}" for name, lines in messages for line in lines]
    return lines[:_REASONS_SHOWN]


def _hints(seen: Observation, cluster: str, deployment: str, machines: list[Object]) -> list[str]:
    """Return the messages of the controllers without duplicates, at most three."""
    sets = [
        body
        for body in seen.of("MachineSet")
        if key(body)[0] == cluster and dig(body, "metadata", "labels", _DEPLOYMENT) == deployment
    ]
    messages: list[str | None] = [
        f"{key(body)[1]} cannot be repaired and waits for a free host that replaces it"
        for body in machines
        if waits_for_spare(body)
    ]
    messages += [condition(body, "ScalingUp").get("message") for body in sets if holds(body, "ScalingUp")]
    messages += [condition(body, "Ready").get("message") for body in machines if not holds(body, "Ready")]
    lines = [" ".join(str(message).split()).removeprefix("* ") for message in messages if message]
    return list(dict.fromkeys(lines))[:_REASONS_SHOWN]


def roll_holders(environment: Environment, pool: str, deployment: Object | None) -> list[str]:
    """Return the reason why the rollout of a group of ``pool`` (``cluster/pool``) is paused; empty if it is not paused.

    A paused MachineDeployment still scales and repairs. Its rollout waits if machines differ from the template, or if
    no machine was created before the pause.
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
