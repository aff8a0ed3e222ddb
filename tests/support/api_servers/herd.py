"""All nodes of a cluster that return at once, with the populations that must not notice it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.api_servers import steady_clients as steady
from tests.support.api_servers.api_clients import Client, Tally
from tests.support.api_servers.cluster_objects import LEADERS, election, of_node, shared
from tests.support.api_servers.hosted_api_server import HostedApiServer, samples
from tests.support.api_servers.node_processes import NETWORK, PODS, PROXY, Kubelet, KubeProxy, Member, NetworkAgent

KUBELETS, AGENTS = "kubelets", "agents"
_OTHERS, _JOBS = 10, 8
"""Numbers of nodes that did not fail, and of parallel requests of the tenant's job."""
_SETUP_PARALLEL = 64
_SETTLE_SECONDS = 1.0
_CLOSE_SECONDS = 0.5
"""Time in which the event loop closes sockets, which asyncio does not await."""
_PENDING = ("apiserver_flowcontrol_current_executing_requests", "apiserver_flowcontrol_current_inqueue_requests")


@dataclass(frozen=True, slots=True)
class Load:
    """Counters of the server by priority level."""

    rejected: Counter[tuple[str, str]]
    """Rejected requests by level and reason."""
    dispatched: Counter[str]
    waited: dict[str, float]
    """Seconds in queues, summed over requests."""
    started: float
    """Time of the server's start, which shows restarts."""
    processor_seconds: float

    def since(self, before: Load) -> Load:
        """Return the difference to an earlier load."""
        waited = {level: seconds - before.waited.get(level, 0) for level, seconds in self.waited.items()}
        processor = self.processor_seconds - before.processor_seconds
        rejected, dispatched = self.rejected - before.rejected, self.dispatched - before.dispatched
        return Load(rejected, dispatched, waited, self.started, processor)

    @property
    def overflows(self) -> dict[str, int]:
        """Return the number of requests for which the queues of a level were full, by level.

        Other reasons of rejections depend on the speed of the machine: requests that waited too long, and requests of
        connections that ended.
        """
        return {level: count for (level, reason), count in self.rejected.items() if reason == "queue-full" and count}


@dataclass(frozen=True, slots=True)
class Return:
    """What happened while the nodes returned."""

    tallies: dict[str, Tally]
    load: Load
    restarted: bool
    peak_memory: int
    """Peak memory of the API server since its start, in bytes."""
    seconds: float
    """Time from open connections until all nodes were complete."""
    complete: int
    """Number of kubelets of which all requests were executed, with open watches and a renewed Lease."""


class Herd:
    """The nodes of a cluster and their processes.

    Args:
        server: API server of the cluster.
        nodes: Number of nodes.
    """

    def __init__(self, server: HostedApiServer, nodes: int) -> None:
        self._server, self._trust = server, server.trusting()
        self._names = _nodes(nodes)
        self._clients: list[Client] = []
        self._others = _other_nodes()

    def prepare(self) -> None:
        """Create the objects that exist before the outage."""
        asyncio.run(self._prepare())

    def returns(self, *, with_store: bool = True) -> Return:
        """Let all nodes return at once and wait until all are complete.

        Args:
            with_store: Whether etcd responds during the return. Otherwise it stops until the server has received the
                first requests of all nodes, so that the queues do not depend on the speed of the machine.
        """
        return asyncio.run(self._return(load(self._server), with_store=with_store))

    async def _prepare(self) -> None:
        client = self._client(steady.ADMIN, Tally())
        limit = asyncio.Semaphore(_SETUP_PARALLEL)

        async def create(path: str, body: dict[str, Any]) -> None:
            async with limit:
                answer = await client.request("POST", path, body)
                assert answer.status == 201, answer

        for path, body in shared():
            await create(path, body)
        await asyncio.gather(
            *(create(path, body) for name in self._names + self._others for path, body in of_node(name))
        )
        await self._close()

    async def _return(self, before: Load, *, with_store: bool) -> Return:
        tallies = {**steady.tallies(), KUBELETS: Tally(), AGENTS: Tally()}
        async with self._steadily(tallies):
            kubelets, agents = self._members(tallies)
            members: list[Member] = [*kubelets, *agents]
            # One process connects more slowly than as many nodes would. All requests after that are simultaneous.
            await asyncio.gather(*(member.client.open() for member in members))
            start = time.perf_counter()
            starts = asyncio.gather(*(member.start() for member in members))
            if not with_store:
                await self._without_store()
            await starts
            returned = time.perf_counter()
        after = await asyncio.to_thread(load, self._server)
        complete = sum(
            all(watch.synced.is_set() for watch in kubelet.watches) and kubelet.renewals > 0 for kubelet in kubelets
        )
        for member in members:
            await member.stop()
        await self._close()
        return Return(
            tallies=tallies,
            load=after.since(before),
            restarted=after.started != before.started,
            peak_memory=peak_memory(self._server),
            seconds=returned - start,
            complete=complete,
        )

    async def _without_store(self) -> None:
        self._server.etcd.send_signal(signal.SIGSTOP)
        try:
            pending, before = 0, -1
            while pending != before:
                await asyncio.sleep(_SETTLE_SECONDS)
                pending, before = await asyncio.to_thread(self._pending), pending
        finally:
            self._server.etcd.send_signal(signal.SIGCONT)

    def _pending(self) -> int:
        """Return the number of requests that the server executes or has in a queue."""
        return sum(int(value) for name, _, value in samples(self._server.metrics()) if name in _PENDING)

    def _members(self, tallies: dict[str, Tally]) -> tuple[list[Kubelet], list[Member]]:
        kubelets = [Kubelet(self._client(_user(name), tallies[KUBELETS]), name, PODS) for name in self._names]
        agents: list[Member] = [
            kind(self._client(user, tallies[AGENTS]), name)
            for name in self._names
            for kind, user in ((KubeProxy, PROXY), (NetworkAgent, NETWORK))
        ]
        return kubelets, agents

    @asynccontextmanager
    async def _steadily(self, tallies: dict[str, Tally]) -> AsyncIterator[None]:
        """Run the populations that must not notice the nodes, and report if one of them fails."""
        tasks = [asyncio.create_task(work) for work in self._steady(tallies)]
        try:
            yield
            failed = [task for task in tasks if task.done()]
            for task in failed:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    def _steady(self, tallies: dict[str, Tally]) -> Iterator[Coroutine[Any, Any, None]]:
        for name in self._others:
            yield steady.renew(self._client(_user(name), tallies[steady.RENEWALS]), steady.lease_path(name))
        for user in LEADERS:
            yield steady.renew(self._client(user, tallies[steady.ELECTIONS]), election(user))
        yield steady.renew(self._client(steady.OPERATOR, tallies[steady.PLATFORM]), election(steady.OPERATOR))
        yield steady.control(self._client(steady.CONTROLLER, tallies[steady.CONTROLLERS]), self._others[0])
        yield steady.administrate(self._client(steady.ADMIN, tallies[steady.ADMINS]))
        yield steady.probe(self._client(steady.ADMIN, tallies[steady.PROBES]))
        for _ in range(_JOBS):
            yield steady.exhaust(self._client(steady.JOB, tallies[steady.JOBS]))

    def _client(self, user: str, tally: Tally) -> Client:
        client = Client(self._server.port, self._trust, self._server.bearer(user), tally)
        self._clients.append(client)
        return client

    async def _close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            client.close()
        self._clients.clear()
        await asyncio.sleep(_CLOSE_SECONDS)


def users(nodes: int) -> dict[str, str]:
    """Return the groups of all users of a herd of ``nodes`` nodes, by name."""
    return {**steady.USERS, **{_user(name): "system:nodes" for name in (*_nodes(nodes), *_other_nodes())}}


def _nodes(count: int) -> list[str]:
    return [f"node-{number:04}" for number in range(count)]


def _other_nodes() -> list[str]:
    return [f"other-{number:02}" for number in range(_OTHERS)]


def _user(node: str) -> str:
    return f"system:node:{node}"


def load(server: HostedApiServer) -> Load:
    """Return the counters of a server."""
    rejected: Counter[tuple[str, str]] = Counter()
    dispatched: Counter[str] = Counter()
    waited: defaultdict[str, float] = defaultdict(float)
    process = {}
    for name, labels, value in samples(server.metrics()):
        level = labels.get("priority_level", "")
        if name == "apiserver_flowcontrol_rejected_requests_total":
            rejected[level, labels["reason"]] += int(value)
        elif name == "apiserver_flowcontrol_dispatched_requests_total":
            dispatched[level] += int(value)
        elif name == "apiserver_flowcontrol_request_wait_duration_seconds_sum":
            waited[level] += value
        else:
            process[name] = value
    started, processor = process["process_start_time_seconds"], process["process_cpu_seconds_total"]
    return Load(rejected, dispatched, dict(waited), started, processor)


def peak_memory(server: HostedApiServer) -> int:
    """Return the peak of the API server's resident memory, in bytes."""
    status = Path(f"/proc/{server.process}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024
