"""One look at the objects of an API server, and the few ways to change them."""

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
"""Longer than any local region lives: nothing renews tokens here."""
PULL_LOGIN = "kubernetes.io/dockerconfigjson"
"""Type of a Secret that an API server takes with JSON only."""
PULL_LOGIN_KEY = ".dockerconfigjson"
"""The one key of such a Secret."""
SIMULATED = "asimulatedvalueofasecret"
"""What each key of a simulated Secret holds: text, a name in the DNS and base 64 at once."""
_BY_SERVER = {"generation", "managedFields", "resourceVersion"}
"""Metadata that follow from others."""
LOG = logging.getLogger("operators")


class View:
    """The objects of one API server, each kind looked at once; thrown away after each round.

    A change that the server refuses because someone else was faster is dropped: the next round sees why.
    """

    def __init__(self, api: ApiServer, mirror: Mirror) -> None:
        self.api = api
        self.changes = 0
        self._mirror = mirror
        self._lists: dict[tuple[str, str], Objects] = {}

    def all(self, api_version: str, kind: str) -> Iterator[Object]:
        """Yield the objects of a kind in a stable order; none when the kind is not served (yet)."""
        yield from self._index(api_version, kind).values()

    def find(self, api_version: str, kind: str, name: str | None, namespace: str | None = None) -> Object | None:
        """Return an object, or None. ``namespace`` does not matter for a cluster-scoped kind."""
        index = self._index(api_version, kind)
        return index.get((namespace or "", name or "")) or index.get(("", name or ""))

    def create(self, body: Object) -> None:
        """Create an object unless it is there."""
        self._change("create", body, lambda: self.api.create(body, field_manager=FIELD_MANAGER))

    def apply(self, body: Object) -> None:
        """Make the fields of ``body`` so."""
        self._change("apply", body, lambda: self.api.apply(body, field_manager=FIELD_MANAGER, force=True))

    def install(self, body: Object, namespace: str, field_manager: str) -> str:
        """Make the fields of ``body`` so as somebody else, and return what the server says against it, or nothing.

        Args:
            body: The object.
            namespace: Where it goes if its kind lies in a namespace and it names none.
            field_manager: Who makes it.
        """
        try:
            if self.api.resource(body["apiVersion"], body["kind"]).namespaced:
                body = {**body, "metadata": {"namespace": namespace, **body["metadata"]}}
            self.api.apply(body, field_manager=field_manager, force=True)
        except Unreachable:
            raise
        except ApiError as error:
            return f"{body['kind']} {body['metadata']['name']}: {error}"
        self.changes += 1
        return ""

    def differs(self, live: Object, body: Object, namespace: str, field_manager: str) -> bool:
        """Tell whether `install` with the same arguments would change ``live``, or be refused."""
        body = {**body, "metadata": {**_placed(live, namespace), **body["metadata"]}}
        try:
            after = self.api.apply(body, field_manager=field_manager, force=True, dry_run=True)
        except Unreachable:
            raise
        except ApiError:
            return True
        return _content(after) != _content(live)

    def kubernetes(self) -> str:
        """Return the version of Kubernetes that the API server tells."""
        return str(self.api.request("GET", "/version")["gitVersion"])

    def token(self, pod: Object) -> str:
        """Return a token of a pod's ServiceAccount, as a kubelet asks for it: worth nothing once the pod is gone."""
        metadata, account = pod["metadata"], dig(pod, "spec", "serviceAccountName") or "default"
        bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        return self.account_token(metadata["namespace"], account, seconds=_TOKEN_SECONDS, boundObjectRef=bound)

    def account_token(self, namespace: str, account: str, *, seconds: int, **more: Any) -> str:
        """Return a token of a ServiceAccount for so many seconds, with ``more`` of the spec of its TokenRequest."""
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds, **more},
        }
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        return str(self.api.request("POST", path, body=body)["status"]["token"])

    def patch(self, obj: Object, patch: Object, subresource: str | None = None) -> bool:
        """Merge into an object that nobody has changed since it was listed, and return whether that was done."""
        guarded = {**patch, "metadata": {**patch.get("metadata", {}), "resourceVersion": _version(obj)}}
        ref = ObjectRef.of(obj)
        return self._change(
            "patch", obj, lambda: self.api.patch(ref, guarded, subresource=subresource, field_manager=FIELD_MANAGER)
        )

    def status(self, obj: Object, patch: Object) -> None:
        """Merge into the status of an object."""
        self.patch(obj, {"status": patch}, "status")

    def delete(self, obj: Object) -> None:
        """Ask for an object's deletion."""
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
        if isinstance(answer, dict):  # a deletion has none
            self._mirror.changed(answer)
        self.changes += 1
        LOG.info("%s %s", verb, name)
        return True


def deleting(obj: Object) -> bool:
    """Return whether an object is being deleted."""
    return "deletionTimestamp" in obj["metadata"]


def hold(view: View, obj: Object, finalizer: str) -> bool:
    """Put ``finalizer`` on an object, which then stays until it is taken off; return whether it was not yet there."""
    finalizers = obj["metadata"].get("finalizers") or []
    if finalizer in finalizers:
        return False
    view.patch(obj, {"metadata": {"finalizers": [*finalizers, finalizer]}})
    return True


def let_go(view: View, obj: Object, finalizer: str) -> None:
    """Take ``finalizer`` off an object."""
    finalizers = obj["metadata"].get("finalizers") or []
    if finalizer in finalizers:
        view.patch(obj, {"metadata": {"finalizers": [name for name in finalizers if name != finalizer]}})


def owner(obj: Object, kind: str) -> str | None:
    """Return the name of the owner of ``kind``, or None."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((reference["name"] for reference in owners if reference["kind"] == kind), None)


def owned_by(obj: Object) -> list[Object]:
    """Return the owner references of an object that ``obj`` controls."""
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
    """Return whether a condition is True, for this generation of the object where it says for which it was observed."""
    generation = obj["metadata"].get("generation")
    return any(
        condition["type"] == name
        and condition["status"] == "True"
        and condition.get("observedGeneration", generation) == generation
        for condition in dig(obj, "status", "conditions") or ()
    )


def now() -> str:
    """Return the time as Kubernetes writes it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def conditions(obj: Object, **changed: tuple[str, str, str]) -> Object:
    """Return a status patch that sets conditions, each (status, reason, message), and keeps the others.

    Return an empty patch when they are so already.
    """
    before = dig(obj, "status", "conditions") or []
    generation = obj["metadata"].get("generation")
    moment = now()
    after = [condition for condition in before if condition["type"] not in changed]
    same = True
    for name, (status, reason, message) in changed.items():
        old: Object = next((condition for condition in before if condition["type"] == name), {})
        new = {"type": name, "status": status, "reason": reason, "message": message, "observedGeneration": generation}
        same = same and new.items() <= old.items()
        moved = old.get("lastTransitionTime", moment) if old.get("status") == status else moment
        after.append({**new, "lastTransitionTime": moved})
    return {} if same else {"conditions": after}


def simulated_secret(name: str, namespace: str, keys: Iterable[str], of_type: str | None = None) -> Object:
    """Return a Secret with these keys, whose values say that they are simulated."""
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
    """Return what of an object people and controllers decide."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _BY_SERVER}
    return {**obj, "metadata": metadata, "status": None}


def _version(obj: Object) -> str:
    return str(obj["metadata"]["resourceVersion"])
