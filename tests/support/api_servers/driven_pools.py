"""Pools in one API server, each in its own namespace, and the objects that Cluster API's controller creates."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from components.lookups.effects.effect import Effect
from components.render.manifest import Json, Manifest
from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.api_servers.cluster_api import CLUSTER_API, bare_cluster
from tests.support.machine.scaled_timeout import ScaledTimeout

Bodies = dict[str, dict[str, Any]]
DEPLOYMENT = "MachineDeployment"
AUTOSCALER = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
REVISION = "machinedeployment.clusters.x-k8s.io/revision"
OWNER = "cluster.x-k8s.io/deployment-name"
SETTLED_SECONDS = 240.0
_QUIET_SECONDS = 1.5
_WORKERS = 8


@dataclass(frozen=True, repr=False)
class Seen:
    """A pool in the API server: declared and derived objects, by key and by uid."""

    declared: Bodies
    sets: Bodies
    machines: Bodies

    @cached_property
    def deployments(self) -> Bodies:
        """Return the MachineDeployments."""
        return {key: body for key, body in self.declared.items() if body["kind"] == DEPLOYMENT}

    @property
    def current(self) -> dict[str, str]:
        """Return the uid of the current MachineSet of each MachineDeployment, by name."""
        by_revision = sorted(self.sets.items(), key=lambda item: int(item[1]["metadata"]["annotations"][REVISION]))
        return {body["metadata"]["labels"][OWNER]: uid for uid, body in by_revision}

    @property
    def unsettled(self) -> Iterator[str]:
        """Yield the pending actions of the controller."""
        sizes = dict.fromkeys(self.sets, 0)
        for body in self.machines.values():
            sizes[body["metadata"]["ownerReferences"][0]["uid"]] += 1
            if "deletionTimestamp" in body["metadata"]:
                yield f"{body['metadata']['name']} goes"
        for body in (*self.deployments.values(), *self.sets.values()):
            if dig(body, "status", "observedGeneration") != body["metadata"]["generation"]:
                yield f"{body['kind']} {body['metadata']['name']} was not looked at"
        for uid, body in self.sets.items():
            if sizes[uid] != body["spec"]["replicas"]:
                yield f"{body['metadata']['name']} has {sizes[uid]} machines"
        for body in self.deployments.values():
            name = body["metadata"]["name"]
            owned = [one for one in self.sets.values() if one["metadata"]["labels"][OWNER] == name]
            if sum(one["spec"]["replicas"] for one in owned) != body["spec"]["replicas"]:
                yield f"the MachineSets of {name} are not as large as it"

    def content(self, part: str) -> dict[str, Any]:
        """Return labels, annotations and specs of the objects in one part."""
        return {key: content(body) for key, body in getattr(self, part).items()}


def content(body: Json) -> dict[str, Any]:
    """Return the labels, annotations and spec of an object, without Cluster API's counters."""
    metadata = body["metadata"]
    kept = {key: value for key, value in (metadata.get("annotations") or {}).items() if REVISION not in key}
    return {"labels": metadata.get("labels"), "annotations": kept, "spec": body.get("spec")}


def effect(was: Seen, now: Seen) -> Effect:
    """Return the effect on the nodes of a pool, derived from the controller's actions and not from declared objects."""
    if not set(was.current.values()) & set(now.current.values()):
        assert not was.machines.keys() & now.machines.keys(), "some machines stayed"
        return Effect.REPLACED
    common = was.machines.keys() & now.machines.keys()
    assert common in (was.machines.keys(), now.machines.keys()), "some machines were made anew"
    if was.machines.keys() != now.machines.keys():
        return Effect.SCALES
    same = was.content("declared") == now.content("declared")
    return Effect.NONE if same else Effect.IN_PLACE


class Pools:
    """Pools by tenant."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self._declared: dict[str, dict[str, Manifest]] = {}

    def declare(self, pools: Mapping[str, list[Manifest]]) -> None:
        """Apply changed objects of pools, and delete objects that are no longer declared, unless they are retained."""
        with ThreadPoolExecutor(_WORKERS) as workers:
            list(workers.map(self._declare, pools.keys(), pools.values()))

    def _declare(self, tenant: str, objects: list[Manifest]) -> None:
        if tenant not in self._declared:
            for item in bare_cluster(namespace_of(tenant)):
                self.api.apply(item.body, field_manager="jacquard")
        old, new = self._declared.get(tenant, {}), {item.key: item for item in objects}
        for key, item in new.items():
            if old.get(key) != item:
                self.api.apply(item.body, field_manager="jacquard")
        for key in old.keys() - new.keys():
            if not old[key].retain:
                self.api.delete(ObjectRef.of(old[key].body))
        self._declared[tenant] = new

    def autoscale(self, tenant: str, end: str) -> None:
        """Act as the cluster autoscaler: set replicas to the lower or upper bound (``end``) of a pool."""
        for body in self._deployments(tenant):
            if bound := body["metadata"]["annotations"].get(f"{AUTOSCALER}-{end}-size"):
                order = {"spec": {"replicas": int(bound)}}
                ref = ObjectRef.of(body)
                self.api.patch(ref, order, subresource="scale", field_manager="cluster-autoscaler")

    def replicas(self, tenant: str) -> list[int]:
        """Return the declared number of nodes of each group."""
        return [body["spec"]["replicas"] for body in self._deployments(tenant)]

    def _deployments(self, tenant: str) -> list[dict[str, Any]]:
        return self.api.list(CLUSTER_API, DEPLOYMENT, namespace=namespace_of(tenant))

    def settled(self) -> dict[str, Seen]:
        """Return all pools after the controller has finished all pending actions and been idle for a while."""
        patience = ScaledTimeout(SETTLED_SECONDS)
        before: list[Any] = []
        while not patience.is_over():
            seen = self._seen({DEPLOYMENT})
            left = {tenant: why for tenant, one in seen.items() if (why := list(one.unsettled))}
            now = [one.content(part) for one in seen.values() for part in ("deployments", "sets", "machines")]
            if not left and now == before:
                return self._seen({item.kind for declared in self._declared.values() for item in declared.values()})
            before = now
            time.sleep(_QUIET_SECONDS)
        message = f"not settled within {SETTLED_SECONDS:g} s: {left or 'things still change'}"
        raise AssertionError(message)

    def _seen(self, kinds: set[str]) -> dict[str, Seen]:
        """Return all pools, with the declared objects of these kinds only."""
        sets, machines = (self._by_tenant(kind) for kind in ("MachineSet", "Machine"))
        wanted = [item for declared in self._declared.values() for item in declared.values() if item.kind in kinds]
        versions = {(item.api_version, item.kind) for item in wanted}
        found = {ObjectRef.of(body): body for version in versions for body in self.api.list(*version)}
        return {
            tenant: Seen(
                {key: found[ObjectRef.of(item.body)] for key, item in declared.items() if item.kind in kinds},
                sets[namespace_of(tenant)],
                machines[namespace_of(tenant)],
            )
            for tenant, declared in self._declared.items()
        }

    def _by_tenant(self, kind: str) -> dict[str, Bodies]:
        """Return the objects of a kind by namespace and uid."""
        found: dict[str, Bodies] = defaultdict(dict)
        for body in self.api.list(CLUSTER_API, kind):
            found[body["metadata"]["namespace"]][body["metadata"]["uid"]] = body
        return found


def namespace_of(tenant: str) -> str:
    """Return the namespace of the only cluster of a tenant."""
    return f"{tenant}-one"
