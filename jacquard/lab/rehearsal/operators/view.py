"""Snapshot of an API server's objects, and operations that change them."""

from __future__ import annotations

import base64
import datetime as dt
import logging
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from jacquard.lab.rehearsal.operators.mirror import Mirror, Objects
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, ObjectRef, Unreachable
from jacquard.providers.kube.objects import dig

Object: TypeAlias = dict[str, Any]
FIELD_MANAGER = "rehearsal-operators"
CONFLICT = 409
_TOKEN_SECONDS = 365 * 86400
"""Validity of tokens, longer than the life of a local region, because tokens are not renewed."""
PULL_LOGIN = "kubernetes.io/dockerconfigjson"
"""Type of a Secret that must contain JSON."""
PULL_LOGIN_KEY = ".dockerconfigjson"
"""Key of a Secret of type `PULL_LOGIN`."""
SIMULATED = "asimulatedvalueofasecret"
"""Value of all keys of simulated Secrets; valid as text, as DNS name and as base64."""
_BY_SERVER = {"generation", "managedFields", "resourceVersion"}
"""Metadata fields that the API server sets on each change."""
LOG = logging.getLogger("operators")


class View:
    """The objects of one API server for one round; each kind is read once.

    A change that the server rejects because of a conflict is dropped; the next round reads the new state.
    """

    def __init__(self, api: ApiServer, mirror: Mirror, installer: ApiServer | None = None) -> None:
        """Start a round.

        Args:
            api: The API server, as an administrator.
            mirror: Its objects.
            installer: The API server as the user who installs charts; ``api`` by default.
        """
        self.api = api
        self.changes = 0
        self._installer = installer or api
        self._mirror = mirror
        self._lists: dict[tuple[str, str], Objects] = {}

    def latest(self) -> View:
        """Return a view that reads each kind again."""
        return View(self.api, self._mirror)

    def all(self, api_version: str, kind: str) -> Iterator[Object]:
        """Yield the objects of a kind in a stable order; none if the kind is not served (yet)."""
        yield from self._index(api_version, kind).values()

    def find(self, api_version: str, kind: str, name: str | None, namespace: str | None = None) -> Object | None:
        """Return an object, or None. ``namespace`` is ignored for cluster-scoped kinds."""
        index = self._index(api_version, kind)
        return index.get((namespace or "", name or "")) or index.get(("", name or ""))

    def create(self, body: Object) -> None:
        """Create an object; an existing object is not changed."""
        self._change("create", body, lambda: self.api.create(body, field_manager=FIELD_MANAGER))

    def apply(self, body: Object) -> None:
        """Apply the fields of ``body``."""
        self._change("apply", body, lambda: self.api.apply(body, field_manager=FIELD_MANAGER, force=True))

    def install(self, body: Object, namespace: str, field_manager: str) -> str:
        """Apply ``body`` with another field manager, and return the error of the server, or an empty string.

        Args:
            body: The object.
            namespace: Default namespace of an object of a namespaced kind.
            field_manager: The field manager.
        """
        try:
            if self.api.resource(body["apiVersion"], body["kind"]).namespaced:
                body = {**body, "metadata": {"namespace": namespace, **body["metadata"]}}
            self._installer.apply(body, field_manager=field_manager, force=True)
        except Unreachable:
            raise
        except ApiError as error:
            return f"{body['kind']} {body['metadata']['name']}: {error}"
        self.changes += 1
        return ""

    def differs(self, live: Object, body: Object, namespace: str, field_manager: str) -> bool:
        """Return whether `install` with the same arguments would change ``live`` or be rejected."""
        body = {**body, "metadata": {**_placed(live, namespace), **body["metadata"]}}
        try:
            after = self._installer.apply(body, field_manager=field_manager, force=True, dry_run=True)
        except Unreachable:
            raise
        except ApiError:
            return True
        return _content(after) != _content(live)

    def kubernetes(self) -> str:
        """Return the Kubernetes version of the API server."""
        return str(self.api.request("GET", "/version")["gitVersion"])

    def token(self, pod: Object) -> str:
        """Return a token of a pod's ServiceAccount, bound to the pod as by a kubelet."""
        metadata, account = pod["metadata"], dig(pod, "spec", "serviceAccountName") or "default"
        bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        return self.account_token(metadata["namespace"], account, seconds=_TOKEN_SECONDS, boundObjectRef=bound)

    def account_token(self, namespace: str, account: str, *, seconds: int, **more: Any) -> str:
        """Return a token of a ServiceAccount, valid for ``seconds``; ``more`` is added to the TokenRequest's spec."""
        return account_token(self.api, namespace, account, seconds=seconds, **more)

    def allows(self, namespace: str, account: str, verb: str, group: str, resource: str) -> bool:
        """Return whether the API server authorizes a ServiceAccount to access all objects of a resource."""
        accounts = "system:serviceaccounts"
        subject = {
            "user": f"system:serviceaccount:{namespace}:{account}",
            "groups": [accounts, f"{accounts}:{namespace}", "system:authenticated"],
        }
        attributes = {"verb": verb, "group": group, "resource": resource}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {**subject, "resourceAttributes": attributes},
        }
        answer = self.api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body=body)
        return bool(answer["status"]["allowed"])

    def patch(self, obj: Object, patch: Object, subresource: str | None = None) -> bool:
        """Merge into an object unless it has changed since the last read, and return whether it was patched."""
        guarded = {**patch, "metadata": {**patch.get("metadata", {}), "resourceVersion": _version(obj)}}
        ref = ObjectRef.of(obj)
        return self._change(
            "patch", obj, lambda: self.api.patch(ref, guarded, subresource=subresource, field_manager=FIELD_MANAGER)
        )

    def status(self, obj: Object, patch: Object) -> None:
        """Merge into the status of an object."""
        self.patch(obj, {"status": patch}, "status")

    def delete(self, obj: Object) -> None:
        """Delete an object."""
        self._change("delete", obj, lambda: self.api.delete(ObjectRef.of(obj), uid=obj["metadata"]["uid"]))

    def _index(self, api_version: str, kind: str) -> Objects:
        key = (api_version, kind)
        if key not in self._lists:
            try:
                self._lists[key] = self._mirror.objects(api_version, kind)
            except KindNotFound:
                self._lists[key] = {}
        return self._lists[key]

    def _change(self, verb: str, obj: Object, send: Any) -> bool:
        metadata = obj["metadata"]
        name = f"{obj['kind']} {metadata.get('namespace', '')}/{metadata['name']}"
        try:
            answer = send()
        except Unreachable:
            raise
        except ApiError as error:
            level = logging.DEBUG if error.status == CONFLICT or error.not_found else logging.WARNING
            LOG.log(level, "%s %s: %s", verb, name, error)
            return False
        if isinstance(answer, dict):  # a deletion returns no object
            self._mirror.changed(answer)
        self.changes += 1
        LOG.info("%s %s", verb, name)
        return True


def account_token(api: ApiServer, namespace: str, account: str, *, seconds: int, **more: Any) -> str:
    """Return a token of a ServiceAccount, valid for ``seconds``; ``more`` is added to the TokenRequest's spec."""
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": seconds, **more},
    }
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    return str(api.request("POST", path, body=body)["status"]["token"])


def deleting(obj: Object) -> bool:
    """Return whether an object is being deleted."""
    return "deletionTimestamp" in obj["metadata"]


def hold(view: View, obj: Object, finalizer: str) -> bool:
    """Add ``finalizer`` to an object; return whether it was missing."""
    finalizers = obj["metadata"].get("finalizers") or []
    if finalizer in finalizers:
        return False
    view.patch(obj, {"metadata": {"finalizers": [*finalizers, finalizer]}})
    return True


def let_go(view: View, obj: Object, finalizer: str) -> None:
    """Remove ``finalizer`` from an object."""
    finalizers = obj["metadata"].get("finalizers") or []
    if finalizer in finalizers:
        view.patch(obj, {"metadata": {"finalizers": [name for name in finalizers if name != finalizer]}})


def owner(obj: Object, kind: str) -> str | None:
    """Return the name of an object's owner of ``kind``, or None."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((reference["name"] for reference in owners if reference["kind"] == kind), None)


def owned_by(obj: Object) -> list[Object]:
    """Return owner references for objects controlled by ``obj``."""
    return [
        {
            "apiVersion": obj["apiVersion"],
            "kind": obj["kind"],
            "name": obj["metadata"]["name"],
            "uid": obj["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def reported(obj: Object, name: str) -> bool:
    """Return whether a condition is True, and current according to its ``observedGeneration``, if any."""
    generation = obj["metadata"].get("generation")
    return any(
        condition["type"] == name
        and condition["status"] == "True"
        and condition.get("observedGeneration", generation) == generation
        for condition in dig(obj, "status", "conditions") or ()
    )


def now() -> str:
    """Return the current time in the format of Kubernetes."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def conditions(obj: Object, **changed: tuple[str, str, str]) -> Object:
    """Return a status patch that sets conditions, each (status, reason, message), and keeps the others.

    Return an empty patch if the conditions are already set.
    """
    before = dig(obj, "status", "conditions") or []
    generation = obj["metadata"].get("generation")
    moment = now()
    after = [condition for condition in before if condition["type"] not in changed]
    is_current = True
    for name, (status, reason, message) in changed.items():
        old: Object = next((condition for condition in before if condition["type"] == name), {})
        new = {"type": name, "status": status, "reason": reason, "message": message, "observedGeneration": generation}
        is_current = is_current and new.items() <= old.items()
        transition = old.get("lastTransitionTime", moment) if old.get("status") == status else moment
        after.append({**new, "lastTransitionTime": transition})
    return {} if is_current else {"conditions": after}


def simulated_secret(name: str, namespace: str, keys: Iterable[str], of_type: str | None = None) -> Object:
    """Return a Secret with these keys and simulated values."""
    value = b'{"auths": {}}' if of_type == PULL_LOGIN else SIMULATED.encode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "type": of_type or "Opaque",
        "data": dict.fromkeys(keys, base64.b64encode(value).decode()),
    }


def _placed(live: Object, namespace: str) -> Object:
    return {"namespace": namespace} if live["metadata"].get("namespace") else {}


def _content(obj: Object) -> Object:
    """Return an object without its status and the fields that the API server sets."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _BY_SERVER}
    return {**obj, "metadata": metadata, "status": None}


def _version(obj: Object) -> str:
    return str(obj["metadata"]["resourceVersion"])
