"""Tests of the nodes of one cluster: a CronJob in the management cluster that starts Jobs in the cluster.

Each pool has a suspended CronJob for its burn-in and for its verification, from which the program creates Jobs, as
``kubectl create job --from`` does. A Job runs its tests one after the other, as containers of one pod. The pod requests
all GPUs of the node, has the lowest priority and a grace period of a second: the scheduler preempts it for any other
pod immediately. A container that ends with an error fails the Job (``podFailurePolicy``). A preempted pod or a missing
command is no result. A pod that exceeds twice the expected duration has failed; a Job whose pod does not start ends
without a result.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Json, Manifest
from components.render.objects import fit, given, manifest
from components.render.platform_pods import cron_job, role
from components.render.pod_placement import EVERY_NODE
from components.render.pools.gpu_sharing import GPU
from components.render.program_pods import TOOL, program, program_files
from components.specs.add_ons.pod_priorities import HIGHEST
from components.specs.health.node_checks import Part
from components.specs.health.node_tests import NodeTest, Phase
from components.specs.hosts.instance_types import InstanceType
from components.specs.region.policy import FreezeSpec
from components.specs.struct import Struct
from components.specs.times import WindowSpec

NAME = "node-tests"
"""Name of the CronJob, and of the PriorityClass of its Jobs."""
PROGRAM = ("node_tests.py", "node_test_decision.py", "repair_times.py", "objects.py", "api.py")
SETTINGS = "settings.json"
IDLE_FAULT = "IdleWithFault"
"""Condition of Nodes that the program sets, and that the health checks of rollout groups repair."""
IDLE_SECONDS = 300
"""Seconds that a node must be idle with a fault before it is repaired, so that a pod can be deleted and return."""
PRIORITY = -HIGHEST - 1
"""Value below those of all priorities for tenants."""
_METAL3 = "infrastructure.cluster.x-k8s.io"
_LINKS = "link_errors.py"
_EVERY_MINUTES, _RUN_SECONDS = 5, 240
_WAIT_SECONDS = 600
"""Time for a pod to be scheduled and to pull its images."""
_NEVER = "0 0 31 2 *"
"""Schedule of CronJobs that only serve as templates, even if they are resumed: a day that does not exist."""
_POOL_LIMIT = 38
"""Maximum length of a pool in the name of a CronJob, which Kubernetes limits to 52 characters."""
_NOT_STARTED = (126, 127, 128)
"""Exit codes of a command that a shell or a container runtime cannot start; the image is wrong, not the node."""
_KEPT_SECONDS: Mapping[Phase, int] = {Phase.BURN_IN: 7 * 86_400, Phase.VERIFICATION: 3600}
"""Time for which finished Jobs are kept, with the logs of their pods."""


class PoolTests(Struct):
    """Tests of the nodes of one pool, in the order in which they run; empty for a phase that does not apply."""

    kind: InstanceType
    burn_in: tuple[NodeTest, ...]
    rounds: int
    """Number of times that a burn-in repeats its tests."""
    verification: tuple[NodeTest, ...]
    when_idle: tuple[str, ...] = ()
    """Conditions of Nodes with which an idle node is repaired."""

    @property
    def by_phase(self) -> dict[Phase, tuple[NodeTest, ...]]:
        """Return the tests of each phase that applies."""
        phases = {Phase.BURN_IN: self.burn_in, Phase.VERIFICATION: self.verification}
        return {phase: tests for phase, tests in phases.items() if tests}


class RepairTimes(Struct):
    """Times at which idle nodes of a tenant with soft faults may be repaired."""

    window: WindowSpec | None
    """Window outside which no repair begins."""
    freezes: tuple[FreezeSpec, ...]
    """Periods in which no repair begins."""
    approval: bool
    """Whether each repair waits for the tenant's approval."""

    def settings(self) -> Json:
        """Return the times as the program reads them."""
        freezes = [
            {"name": freeze.name, "from": freeze.from_.isoformat(), "to": freeze.to.isoformat()}
            for freeze in self.freezes
        ]
        window = self.window and self.window.model_dump(mode="json", by_alias=True)
        return {
            "hold_seconds": IDLE_SECONDS,
            **given(window=window, freezes=freezes or None, approval=self.approval or None),
        }


class NodeTests(Struct):
    """Tests of the nodes of one cluster."""

    cluster: str
    namespace: str
    """Namespace of the Jobs in the cluster."""
    gate: str
    """Condition of Nodes and Machines after a burn-in."""
    pools: Mapping[str, PoolTests]
    interval_minutes: int
    images: Mapping[str, str]
    """Container images by name, with digests."""
    repairs: RepairTimes | None = None
    """Times of repairs of idle nodes; at any time by default."""

    def in_management(self, labels: Mapping[str, str]) -> tuple[Manifest, ...]:
        """Return the CronJob in the namespace of the cluster, with its program and a minimal role."""
        place: dict[str, Any] = {"namespace": self.cluster, "labels": labels}
        return (
            manifest("v1", "ServiceAccount", NAME, **place),
            *role(NAME, list(self._rules()), account=(self.cluster, NAME), **place),
            *program(
                NAME,
                self.images[TOOL],
                PROGRAM,
                **place,
                settings={SETTINGS: self._settings()},
                every_minutes=_EVERY_MINUTES,
                run_seconds=_RUN_SECONDS,
                kubeconfig=f"{self.cluster}-kubeconfig",
            ),
        )

    def _rules(self) -> Iterator[dict[str, Any]]:
        yield {"apiGroups": ["cluster.x-k8s.io"], "resources": ["machines"], "verbs": ["list"]}
        yield {"apiGroups": ["cluster.x-k8s.io"], "resources": ["machines/status"], "verbs": ["patch"]}
        if self.repairs is not None:
            yield {"apiGroups": [_METAL3], "resources": ["metal3remediations"], "verbs": ["list"]}

    @property
    def gated(self) -> tuple[str, ...]:
        """Return the pools whose new nodes must pass a burn-in, sorted."""
        return tuple(sorted(name for name, tests in self.pools.items() if tests.burn_in))

    def in_cluster(self) -> tuple[Manifest, ...]:
        """Return the objects in the cluster: the priority, and a suspended CronJob of each pool and phase."""
        priority = manifest(
            "scheduling.k8s.io/v1",
            "PriorityClass",
            NAME,
            cluster=self.cluster,
            value=PRIORITY,
            preemptionPolicy="Never",
            description="Tests of idle nodes by the platform, preempted by all other pods.",
        )
        return (
            priority,
            *(self._cron_job(pool, phase) for pool, tests in self.pools.items() for phase in tests.by_phase),
        )

    def _cron_job(self, pool: str, phase: Phase) -> Manifest:
        job = self._job(self.pools[pool], phase, self.pools[pool].by_phase[phase])
        place: dict[str, Any] = {"namespace": self.namespace, "labels": {}, "cluster": self.cluster}
        name = _job_name(pool, phase)
        return cron_job(name, job, **place, schedule=_NEVER, time_zone="Etc/UTC", suspend=True)

    def _settings(self) -> str:
        measured = {test.name: test.measures for tests in self.pools.values() for test in tests.verification}
        settings = {
            "cluster": self.cluster,
            "namespace": self.namespace,
            "gate": self.gate,
            "interval_seconds": 60 * self.interval_minutes,
            "measures": given(**measured),
            "pools": {
                pool: {phase.value: _job_name(pool, phase) for phase in tests.by_phase}
                for pool, tests in self.pools.items()
            },
            "when_idle": {pool: tests.when_idle for pool, tests in self.pools.items() if tests.when_idle},
            **given(repairs=self.repairs and self.repairs.settings()),
        }
        return json.dumps(settings, indent=1) + "\n"

    def _job(self, tests: PoolTests, phase: Phase, chosen: tuple[NodeTest, ...]) -> Json:
        rounds = tests.rounds if phase is Phase.BURN_IN else 1
        seconds = 2 * 60 * sum(test.minutes(phase) or 0 for test in chosen)
        policy = [
            {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            {"action": "Count", "onExitCodes": {"operator": "In", "values": list(_NOT_STARTED)}},
            {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}},
        ]
        return {
            "completions": rounds,
            "parallelism": 1,
            "backoffLimit": 0,
            "activeDeadlineSeconds": rounds * (seconds + _WAIT_SECONDS),
            "ttlSecondsAfterFinished": _KEPT_SECONDS[phase],
            "podFailurePolicy": {"rules": policy},
            "template": {
                "metadata": {"labels": {keys.INTERRUPTIBLE: "true"}},  # drains of Machines do not wait for tests
                "spec": self._pod(tests.kind, phase, chosen, seconds),
            },
        }

    def _pod(self, kind: InstanceType, phase: Phase, chosen: tuple[NodeTest, ...], seconds: int) -> Json:
        *first, last = (self._container(test, kind, phase) for test in chosen)
        return {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": seconds,
            "terminationGracePeriodSeconds": 1,
            "priorityClassName": NAME,
            "automountServiceAccountToken": False,
            # Ports of the fabric belong to the network namespace of the node.
            **given(hostNetwork=any(test.part is Part.FABRIC for test in chosen) or None),
            "tolerations": EVERY_NODE,
            **given(initContainers=first),
            "containers": [last],
            "volumes": [
                {"name": "scratch", "emptyDir": {}},
                {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
            ],
        }

    def _container(self, test: NodeTest, kind: InstanceType, phase: Phase) -> Json:
        gpus = kind.gpu.count if kind.gpu and test.part is not Part.ANY else 0
        values = {
            "{gpus}": str(gpus),
            "{seconds}": str(60 * (test.minutes(phase) or 0)),
            "{link_errors}": program_files((_LINKS,))[_LINKS],
        }
        return {
            "name": test.name,
            "image": self.images[test.tool],
            "command": [_filled(argument, values) for argument in test.command],
            **given(env=[{"name": name, "value": value} for name, value in test.environment.items()]),
            **given(resources={"limits": {GPU: gpus}} if gpus else None),
            # RDMA verbs need the node's devices and locked memory.
            **given(securityContext={"privileged": True} if test.part is Part.FABRIC else None),
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [
                {"name": "scratch", "mountPath": "/scratch"},
                {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108 - a mount, not a temporary file
            ],
        }


def _filled(argument: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        argument = argument.replace(placeholder, value)
    return argument


def _job_name(pool: str, phase: Phase) -> str:
    return f"{fit(pool, _POOL_LIMIT)}-{phase}"
