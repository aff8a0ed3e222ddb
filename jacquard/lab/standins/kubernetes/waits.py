"""Wait conditions of an object, which must be met before its dependents are applied."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from jacquard.lab.standins.kubernetes.objects.bodies import annotation
from jacquard.providers.kube import ApiServer, KindNotFound, ObjectRef
from jacquard.providers.kube.objects import dig
from jacquard.providers.kube.wait import (
    POLL_SECONDS,
    WaitCancelled,
    WaitCondition,
    WaitTimeout,
    parse_wait_for,
    unmet,
    wait_for,
)


def daemon_set(obj: Mapping[str, Any]) -> str:
    """Return the reason why a DaemonSet is not ready; empty if all its nodes run the current revision."""
    status = obj.get("status") or {}
    wanted = status.get("desiredNumberScheduled", 0)
    if stale := _stale(obj):
        return stale
    if dig(obj, "spec", "updateStrategy", "type") != "OnDelete" and status.get("updatedNumberScheduled", 0) < wanted:
        return f"{status.get('updatedNumberScheduled', 0)} of {wanted} pods are updated"
    available = status.get("numberAvailable", 0)
    return f"{available} of {wanted} pods are available" if available < wanted else ""


def stateful_set(obj: Mapping[str, Any]) -> str:
    """Return the reason why a StatefulSet is not ready; empty if all replicas are ready and updated."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    wanted = spec.get("replicas", 1)
    if stale := _stale(obj):
        return stale
    for count, verb in (("replicas", "exist"), ("readyReplicas", "are ready")):
        if status.get(count, 0) != wanted:
            return f"{status.get(count, 0)} of {wanted} replicas {verb}"
    if dig(spec, "updateStrategy", "type") == "OnDelete":
        return ""
    partition = dig(spec, "updateStrategy", "rollingUpdate", "partition") or 0
    rolled = status.get("updateRevision") == status.get("currentRevision")
    updated = status.get("updatedReplicas", 0)
    return (
        "" if rolled or (partition and updated >= wanted - partition) else f"{updated} of {wanted} replicas are updated"
    )


CHECKS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], str]] = {
    ("apps/v1", "DaemonSet"): daemon_set,
    ("apps/v1", "StatefulSet"): stateful_set,
}


def _stale(obj: Mapping[str, Any]) -> str:
    observed, generation = dig(obj, "status", "observedGeneration") or 0, dig(obj, "metadata", "generation") or 0
    return f"its controller has observed generation {observed} of {generation}" if observed < generation else ""


WAIT_FOR = "pulumi.com/waitFor"
SKIP_AWAIT = "pulumi.com/skipAwait"
TIMEOUT = "pulumi.com/timeoutSeconds"
DEFAULT_SECONDS = 600.0

_ROLLED_OUT = 'jsonpath={.status.conditions[?(@.type=="Progressing")].reason}=NewReplicaSetAvailable'

_ADDRESS = "jsonpath={.status.loadBalancer.ingress[0]}"
_BOUND = "jsonpath={.status.phase}=Bound"

_READY: dict[tuple[str, str], tuple[str, ...]] = {
    ("v1", "Namespace"): ("jsonpath={.status.phase}=Active",),
    ("v1", "Pod"): ("condition=Ready",),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): ("condition=Established",),
    ("apps/v1", "Deployment"): ("condition=Available", _ROLLED_OUT),
    ("batch/v1", "Job"): ("condition=Complete",),
    ("networking.k8s.io/v1", "Ingress"): (_ADDRESS,),
}
"""Default wait conditions by kind. As in the vendor's provider, custom kinds have none."""

_SKIP_ON_DELETE = ("Namespace", "Pod", "ReplicationController", "DaemonSet", "Deployment", "StatefulSet", "Job")


_Targets: TypeAlias = tuple[tuple[ObjectRef, tuple[WaitCondition, ...]], ...]


class Wait:
    """Wait conditions of one object, on the status of the object or of a related object."""

    def __init__(self, body: Mapping[str, Any], ref: ObjectRef, custom_seconds: float = 0.0) -> None:
        """Read the object's annotations.

        Args:
            body: the inputs.
            ref: the object.
            custom_seconds: the resource option ``custom_timeouts``; 0 if not set.
        """
        self.seconds = custom_seconds or float(annotation(body, TIMEOUT) or DEFAULT_SECONDS)
        self.ref = ref
        self._body = body
        self._targets = _targets(body, ref)

    def __str__(self) -> str:
        """Return the conditions in the syntax of the annotation; empty without conditions."""
        return ", ".join(condition.text for _, conditions in self._targets for condition in conditions)

    def until_ready(self, api: ApiServer, live: dict[str, Any], cancelled: threading.Event) -> dict[str, Any]:
        """Wait until all conditions are met and return the object.

        Raises:
            NotReached: a condition is not met in time, or can no longer be met; the message has the reason.
            WaitCancelled: ``cancelled`` was set.
        """
        deadline = time.monotonic() + self.seconds
        for ref, conditions in (*self._targets, *self._of_claim(api, live)):
            left = max(deadline - time.monotonic(), 0.0)
            last = wait_for(api, ref, conditions, timeout_seconds=left, cancelled=cancelled)
            live = last if ref == self.ref else live
        for api_version, kind in _served(self._body):
            self._until_served(api, api_version, kind, deadline, cancelled)
        return live

    def missing(self, api: ApiServer, live: dict[str, Any]) -> list[str]:
        """Return a message for each condition that is not met now."""
        messages: list[str] = []
        for ref, conditions in (*self._targets, *self._of_claim(api, live)):
            obj = live if ref == self.ref else api.get(ref)
            messages += [f"{ref} does not exist"] if obj is None else unmet(obj, conditions)
        return messages

    def _of_claim(self, api: ApiServer, live: Mapping[str, Any]) -> _Targets:
        """Return the condition that a claim is bound, unless the claim's class waits for the first pod."""
        is_explicit = annotation(self._body, SKIP_AWAIT) == "true" or annotation(self._body, WAIT_FOR)
        if (self.ref.api_version, self.ref.kind) != ("v1", "PersistentVolumeClaim") or is_explicit:
            return ()
        name = dig(live, "spec", "storageClassName")
        storage = api.get(ObjectRef("storage.k8s.io/v1", "StorageClass", name)) if name else None
        late = (storage or {}).get("volumeBindingMode") == "WaitForFirstConsumer"
        return () if late else ((self.ref, parse_wait_for(_BOUND)),)

    def _until_served(
        self, api: ApiServer, api_version: str, kind: str, deadline: float, cancelled: threading.Event
    ) -> None:
        """Wait until clients can discover a new kind, shortly after its CRD is established."""
        while True:
            try:
                api.resource(api_version, kind)
            except KindNotFound:
                if time.monotonic() > deadline:
                    raise WaitTimeout(
                        self.ref, self.seconds, [f"{api_version} {kind} is not served yet"], None
                    ) from None
                if cancelled.wait(POLL_SECONDS / 8):
                    message = f"{self.ref}: stopped waiting because the run was cancelled"
                    raise WaitCancelled(message) from None
            else:
                return


def skips_wait_on_delete(body: Mapping[str, Any]) -> bool:
    """Return whether ``pulumi.com/skipAwait`` also applies to the deletion, as for the old kinds only."""
    return annotation(body, SKIP_AWAIT) == "true" and body.get("kind") in _SKIP_ON_DELETE


def _targets(body: Mapping[str, Any], ref: ObjectRef) -> _Targets:
    if annotation(body, SKIP_AWAIT) == "true":
        return ()
    expression = annotation(body, WAIT_FOR)
    if expression:
        return ((ref, parse_wait_for(expression)),)
    if (ref.api_version, ref.kind) == ("v1", "Service"):
        return _of_service(body.get("spec") or {}, ref)
    check = CHECKS.get((ref.api_version, ref.kind))
    if check:
        return ((ref, (WaitCondition("every pod", check=check),)),)
    expressions = _READY.get((ref.api_version, ref.kind), ())
    conditions = tuple(condition for text in expressions for condition in parse_wait_for(text))
    return ((ref, conditions),) if conditions else ()


def _of_service(spec: Mapping[str, Any], ref: ObjectRef) -> _Targets:
    """Return the conditions of a Service as in the vendor's provider: endpoints, and for LoadBalancer an address."""
    targets: list[tuple[ObjectRef, tuple[WaitCondition, ...]]] = []
    kind = spec.get("type", "ClusterIP")
    if kind != "ExternalName" and spec.get("selector") and spec.get("clusterIP") != "None":
        endpoints = ObjectRef("v1", "Endpoints", ref.name, ref.namespace)
        targets.append((endpoints, parse_wait_for("jsonpath={.subsets[0].addresses[0].ip}")))
    if kind == "LoadBalancer":
        targets.append((ref, parse_wait_for(_ADDRESS)))
    return tuple(targets)


def _served(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return apiVersion and kind of each version that a CustomResourceDefinition serves; empty for other objects."""
    if body.get("kind") != "CustomResourceDefinition" or annotation(body, SKIP_AWAIT) == "true":
        return []
    spec = body["spec"]
    versions = [version["name"] for version in spec["versions"] if version.get("served")]
    return [(f"{spec['group']}/{name}", spec["names"]["kind"]) for name in versions]
