"""Queues of a tenant cluster: quotas of teams on its pools, and the classes of their jobs, for Kueue."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from components.specs.base import CheckedSpec, ConstraintViolation, DnsLabel, Label, ShortName, Spec

NodeCount = Annotated[int, Field(ge=1, le=5000)]
LendCount = Annotated[int, Field(ge=0, le=5000)]


class QueuedKinds(StrEnum):
    """Kinds of objects that wait in queues."""

    JOBS = "jobs"
    """Jobs of Kubernetes, JobSet, Kubeflow, Ray and MPI wait in queues. Other pods start without a queue."""
    PODS = "pods"
    """All pods of the namespaces wait in queues, including those of Deployments, StatefulSets and LeaderWorkerSets. No
    pod of these namespaces is created while Kueue is down."""


class QueuePreemption(StrEnum):
    """Jobs that a job of a team preempts if it does not fit into free quota."""

    OWN_QUOTA = "own-quota"
    """Jobs of other teams, of any class, that borrow the team's quota; and jobs of lower classes of the team."""
    LOWER_CLASSES = "lower-classes"
    """In addition, jobs of lower classes of other teams while the team itself borrows. Kueue does not restrict the
    classes that a team may use, so this requires trust between the teams."""
    NEVER = "never"
    """No job: jobs wait until enough quota is free."""


class GangDomain(StrEnum):
    """Domain of the network that all nodes of a job must share."""

    RACK = "rack"
    """One rack, which is the NVLink domain of rack-scale instance types."""
    LEAF = "leaf"
    """All racks of one leaf switch."""


class GangSpec(Spec):
    """Largest job of a team in one domain of the network."""

    nodes: NodeCount
    """Number of nodes of the job."""
    within: GangDomain = GangDomain.RACK
    """Domain that contains all nodes of the job."""


class TeamQueueSpec(CheckedSpec):
    """Queue of one team: a ClusterQueue of Kueue, and a LocalQueue in each namespace of the team."""

    name: Label
    """Name of the team, and of its ClusterQueue."""
    namespaces: tuple[Label, ...] = Field(min_length=1, max_length=64)
    """Namespaces of the team, from ``namespaces`` of the cluster. A namespace belongs to one team."""
    nodes: dict[ShortName, NodeCount] = Field(default_factory=dict)
    """Number of nodes that the team owns, by pool. The quotas are the GPUs, CPUs and memory of these nodes."""
    borrow: dict[ShortName, NodeCount] = Field(default_factory=dict)
    """Maximum number of further nodes, by pool, whose unused quota of other teams the team may use. By default none."""
    lend: dict[ShortName, LendCount] = Field(default_factory=dict)
    """Maximum number of the team's nodes, by pool, whose unused quota other teams may borrow. By default all."""
    preemption: QueuePreemption = QueuePreemption.OWN_QUOTA
    """Jobs that a job of the team preempts if it does not fit into free quota."""
    weight: int = Field(default=1, ge=1, le=1000)
    """Weight of the team when borrowed quota is shared; only with ``fair_sharing``."""
    gangs: dict[ShortName, GangSpec] = Field(default_factory=dict)
    """Largest job of the team in one domain of the network, by pool. ``jacquard check`` verifies that it fits."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a queue without quota, duplicate namespaces, and limits on pools where they have no meaning."""
        if not self.nodes and not self.borrow:
            text = "has neither nodes nor borrow, so no job could start; add nodes of a pool, or remove the team"
            yield ConstraintViolation(text)
        for index, name in enumerate(self.namespaces):
            if name in self.namespaces[:index]:
                yield ConstraintViolation("is listed twice; remove it", ("namespaces", index), name)
        for pool, count in self.lend.items():
            own = self.nodes.get(pool, 0)
            if count > own:
                text = (
                    f"must be at most {own}, the team's nodes of pool {pool}; write {own} or less, or remove it"
                    if own
                    else f"lends nodes of pool {pool}, but the team owns none; remove it, or add the pool to nodes"
                )
                yield ConstraintViolation(text, ("lend", pool), count)
        for pool, gang in self.gangs.items():
            most = self.most(pool)
            if not most:
                text = "is a job on a pool without nodes that the team has or may borrow; remove it, or add it to nodes"
                yield ConstraintViolation(text, ("gangs", pool), pool)
            elif gang.nodes > most:
                text = (
                    f"must be at most {most}, the nodes of pool {pool} that the team has and may borrow; write {most}"
                    " or less, or raise nodes"
                )
                yield ConstraintViolation(text, ("gangs", pool, "nodes"), gang.nodes)

    @property
    def pools(self) -> tuple[str, ...]:
        """Return the pools of the team, in the order of the data."""
        return tuple(dict.fromkeys((*self.nodes, *self.borrow)))

    def most(self, pool: str) -> int:
        """Return the maximum number of nodes of ``pool`` that the team can use."""
        return self.nodes.get(pool, 0) + self.borrow.get(pool, 0)

    def lendable(self, pool: str) -> int:
        """Return the number of nodes of ``pool`` whose unused quota other teams can borrow."""
        return self.lend.get(pool, self.nodes.get(pool, 0))


class QueuesSpec(CheckedSpec):
    """Queues of one cluster. Unused quota is borrowed between its teams only."""

    classes: dict[DnsLabel, DnsLabel] = Field(default_factory=dict)
    """Classes of jobs, each with a pod priority of the cluster. Its value is also the value of the class, so that Kueue
    and the scheduler agree on the order. The priority of a job without a class is that of its pods."""
    teams: tuple[TeamQueueSpec, ...] = Field(min_length=1, max_length=100)
    """Teams of the cluster, each with a unique name."""
    fair_sharing: bool = False
    """Whether unused quota is shared between teams by weight. Otherwise, the first job takes it."""
    queued: QueuedKinds = QueuedKinds.JOBS
    """Kinds of objects that wait in queues."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield duplicate teams and namespaces, classes without order, and settings that contradict fair sharing."""
        owners: dict[str, str] = {}
        for index, team in enumerate(self.teams):
            if team.name in [other.name for other in self.teams[:index]]:
                text = "is the name of an earlier team; rename it"
                yield ConstraintViolation(text, ("teams", index, "name"), team.name)
            for at, name in enumerate(team.namespaces):
                owner = owners.setdefault(name, team.name)
                if owner != team.name:
                    text = f"already belongs to team {owner}, and a namespace has one default queue; remove it"
                    yield ConstraintViolation(text, ("teams", index, "namespaces", at), name)
            yield from self._sharing(index, team)
        for name, priority in self.classes.items():
            first = next(other for other, value in self.classes.items() if value == priority)
            if first != name:
                text = f"is already the priority of class {first}, so neither class precedes; write another priority"
                yield ConstraintViolation(text, ("classes", name), priority)

    def _sharing(self, index: int, team: TeamQueueSpec) -> Iterator[ConstraintViolation]:
        if self.fair_sharing and team.preemption is QueuePreemption.LOWER_CLASSES:
            text = f"is not supported with fair_sharing; write {QueuePreemption.OWN_QUOTA}, or remove fair_sharing"
            yield ConstraintViolation(text, ("teams", index, "preemption"), team.preemption.value)
        if not self.fair_sharing and "weight" in team.model_fields_set:
            text = "has no effect without fair_sharing; remove it, or add fair_sharing: true"
            yield ConstraintViolation(text, ("teams", index, "weight"), team.weight)
