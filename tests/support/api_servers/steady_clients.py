"""Clients that must not notice the return of nodes, and a tenant's job that sends as many requests as it can.

Each runs in a loop until it is cancelled, and only counts the responses.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from tests.support.api_servers.api_clients import PATCH, Client, Tally
from tests.support.api_servers.node_processes import LEASES, NETWORK, PROXY

MANAGER, SCHEDULER = "system:kube-controller-manager", "system:kube-scheduler"
CONTROLLER = "system:serviceaccount:kube-system:node-controller"
OPERATOR = "system:serviceaccount:gpu-operator:gpu-operator"
JOB = "system:serviceaccount:training:job"
USERS: Mapping[str, str] = {
    MANAGER: "system:authenticated",
    SCHEDULER: "system:authenticated",
    **{
        name: f"system:serviceaccounts,system:serviceaccounts:{name.split(':')[2]}"
        for name in (CONTROLLER, OPERATOR, JOB, PROXY, NETWORK)
    },
}
"""Groups of all users with a token."""
ADMIN = "test"
RENEWALS, ELECTIONS, PLATFORM, CONTROLLERS, ADMINS, PROBES, JOBS = (
    "leases of other nodes",
    "leader election",
    "leader election of an operator",
    "node controller",
    "administrator",
    "liveness probe",
    "job of the tenant",
)
PROTECTED = (RENEWALS, ELECTIONS, PLATFORM, CONTROLLERS, ADMINS, PROBES)
"""Populations of which no request may be rejected."""
_PAUSE_SECONDS = 0.2


async def renew(client: Client, path: str) -> None:
    """Renew a Lease repeatedly: of a node, or of the leader of controllers."""
    lease: Any = None
    while True:
        answer = await client.request("GET", path) if lease is None else await client.request("PUT", path, lease)
        # After a conflict with its own update, whose answer was lost, a client reads the Lease again.
        lease = json.loads(answer.body) if answer.status == 200 else None
        await asyncio.sleep(_PAUSE_SECONDS)


async def control(client: Client, node: str) -> None:
    """Read all nodes and change one, as the controller of nodes does."""
    while True:
        await client.request("GET", "/api/v1/nodes?limit=50")
        body = {"metadata": {"annotations": {"test": "controlled"}}}
        await client.request("PATCH", f"/api/v1/nodes/{node}", body, content=PATCH)
        await asyncio.sleep(_PAUSE_SECONDS)


async def administrate(client: Client) -> None:
    """Read an object as an administrator does."""
    while True:
        await client.request("GET", "/api/v1/namespaces/default")
        await asyncio.sleep(_PAUSE_SECONDS)


async def probe(client: Client) -> None:
    """Read the health as a liveness probe does; without its store, the server is not healthy."""
    while True:
        await client.request("GET", "/livez")
        await asyncio.sleep(_PAUSE_SECONDS)


async def exhaust(client: Client) -> None:
    """List all pods from etcd without a pause, as a careless job does."""
    while True:
        await client.request("GET", "/api/v1/pods")


def lease_path(node: str) -> str:
    """Return the path of the Lease of a node."""
    return f"{LEASES}/{node}"


def tallies() -> dict[str, Tally]:
    """Return empty counts of all populations."""
    return {name: Tally() for name in (*PROTECTED, JOBS)}
