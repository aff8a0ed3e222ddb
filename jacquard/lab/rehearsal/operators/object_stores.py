"""Simulated operator of SeaweedFS: reports buckets and users, and creates the Secrets with keys.

No bucket is created, and all keys are the same text. The simulation reports the errors of the real operator
(seaweedfs/seaweedfs-operator 0.1.39, ``internal/controller``) for a missing ``Seaweed``, a missing bucket of a life
cycle and a missing user of keys. The ``ResourceReferenceGrant`` in the namespace of the ``Seaweed`` is not simulated.
"""

from collections.abc import Iterator, Mapping

from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting, reported, simulated_secret
from jacquard.providers.kube.objects import dig

API = "seaweed.seaweedfs.com/v1"


def reconcile(view: View) -> None:
    """Report all objects of the operator, and create the missing Secrets with keys."""
    for bucket in _alive(view, "Bucket"):
        _report(view, bucket, _no_store(view, bucket, bucket["spec"]["clusterRef"]))
    for policy in _alive(view, "BucketLifecyclePolicy"):
        target = _beside(view, "Bucket", policy, policy["spec"]["bucketRef"])
        is_ready = target is not None and reported(target, "Ready")
        _report(view, policy, None if is_ready else ("BucketNotReady", "the bucket is not provisioned"))
    for identity in _alive(view, "S3Identity"):
        _report(view, identity, _no_store(view, identity, identity["spec"]["seaweedRef"]))
    for item in _alive(view, "S3Credentials"):
        lacking = _no_store(view, item, item["spec"]["seaweedRef"]) or _no_user(view, item)
        secret, namespace = item["spec"]["secretRef"], item["metadata"]["namespace"]
        if lacking is None and view.find("v1", "Secret", secret["name"], namespace) is None:
            fields = (secret["accessKeyField"], secret["secretKeyField"])
            view.create(simulated_secret(secret["name"], namespace, fields))
        _report(view, item, lacking)


_Reason = tuple[str, str] | None
"""Reason and message of a condition that is False; None if the object is ready."""


def _alive(view: View, kind: str) -> Iterator[Object]:
    return (item for item in view.all(API, kind) if not deleting(item))


def _beside(view: View, kind: str, item: Object, reference: Mapping[str, str]) -> Object | None:
    return view.find(API, kind, reference["name"], item["metadata"]["namespace"])


def _no_store(view: View, item: Object, reference: Mapping[str, str]) -> _Reason:
    namespace = reference.get("namespace", item["metadata"]["namespace"])
    if view.find(API, "Seaweed", reference["name"], namespace) is None:
        return "ClusterRefNotFound", f'Seaweed "{reference["name"]}" not found'
    return None


def _no_user(view: View, item: Object) -> _Reason:
    identity = _beside(view, "S3Identity", item, item["spec"]["identityRef"])
    if identity is None or not reported(identity, "Ready"):
        return "IdentityMissing", f'identity "{item["spec"]["identityRef"]["name"]}" does not exist yet'
    return None


def _report(view: View, obj: Object, lacking: _Reason) -> None:
    """Write the phase and the condition Ready."""
    status, reason, message = ("False", *lacking) if lacking else ("True", "Reconciled", "")
    phase = "Pending" if lacking else "Ready"
    patch = conditions(obj, Ready=(status, reason, message))
    if patch or dig(obj, "status", "phase") != phase:
        view.status(obj, {**patch, "phase": phase})
