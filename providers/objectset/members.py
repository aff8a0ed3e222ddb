"""The members of a set in the cluster: look, try, apply."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from providers.errors import ProviderError
from providers.kube import ApiError, ApiServer, KindNotFound, ObjectRef
from providers.objectset.applyset import PART_OF
from providers.objectset.inputs import Identity, ObjectSet
from providers.objectset.workers import Outcomes, Workers

FIELD_MANAGER = "jacquard-objectset"
LIST_FROM = 64
"""From so many new members of one kind and namespace on, one list is cheaper than a look at each."""


class Members:
    """The members of one set in one cluster."""

    def __init__(self, api: ApiServer, workers: Workers, wanted: ObjectSet) -> None:
        self._api = api
        self._workers = workers
        self._set = wanted

    def apply(self, keys: Iterable[str], *, dry_run: bool = False) -> Outcomes[str, dict[str, Any]]:
        """Apply the members named by ``keys`` and return the live objects; all are tried."""
        return self._workers.run(
            lambda body: self._api.apply(self._owned(body), field_manager=FIELD_MANAGER, dry_run=dry_run),
            {key: self._set.members[key] for key in keys},
        )

    def strangers(self, candidates: Mapping[Identity, str | None]) -> list[str]:
        """Return, in words, the objects that exist and cannot be this set's, with the remedy.

        One that is being deleted would go as soon as it is applied. Others are this set's by label or by recorded uid;
        one with another set's label is not, whatever its uid.
        """
        found: dict[Identity, Mapping[str, Any]] = {}
        places: dict[tuple[str, str], list[Identity]] = {}
        versions = self._set.versions()
        for identity in candidates:
            version = versions[identity.group, identity.kind]
            places.setdefault((version, identity.namespace), []).append(identity)
        for (version, namespace), identities in places.items():
            found |= self._existing(version, namespace, identities)
        words = []
        for identity in sorted(found):
            metadata = found[identity]["metadata"]
            owner = (metadata.get("labels") or {}).get(PART_OF)
            if metadata.get("deletionTimestamp"):
                words.append(f"{identity} is being deleted; run again once it is gone")
            elif owner != self._set.applyset and (owner or metadata["uid"] != candidates[identity]):
                whose = f"belongs to {owner or 'no set'}"
                words.append(f"{identity} exists and {whose}; delete it, or remove it from this set")
        return words

    def owned_objects(self, kinds: Collection[tuple[str, str]], namespaces: Collection[str]) -> list[dict[str, Any]]:
        """Return every object of these kinds and namespaces that carries this set's label.

        A kind that the server does not serve has no objects.
        """
        places: dict[tuple[str, str, str], tuple[str, str, str | None]] = {}
        for group, kind in kinds:
            version = self._version(group, kind)
            if version is not None:
                namespaced = self._api.resource(version, kind).namespaced
                for namespace in namespaces if namespaced else ("",):
                    places[group, kind, namespace] = (version, kind, namespace or None)
        selector = f"{PART_OF}={self._set.applyset}"
        outcomes = self._workers.run(
            lambda place: self._api.list(place[0], place[1], namespace=place[2], label_selector=selector), places
        )
        for error in outcomes.failed.values():
            raise error
        return [body for bodies in outcomes.done.values() for body in bodies]

    def _version(self, group: str, kind: str) -> str | None:
        """Return the apiVersion that the set uses for a kind if the server has it, else one that the server has."""
        used = self._set.versions().get((group, kind))
        try:
            if used is not None:
                self._api.resource(used, kind)
                return used
        except KindNotFound:
            pass
        return self._api.version(group, kind)

    def _existing(self, version: str, namespace: str, identities: list[Identity]) -> dict[Identity, Mapping[str, Any]]:
        kind = identities[0].kind
        if len(identities) >= LIST_FROM:
            try:
                bodies = self._api.list(version, kind, namespace=namespace, metadata_only=True)
            except KindNotFound:
                return {}
            live = {body["metadata"]["name"]: body for body in bodies}
            return {identity: live[identity.name] for identity in identities if identity.name in live}
        outcomes = self._workers.run(
            lambda identity: self._look(ObjectRef(version, kind, identity.name, namespace)),
            {identity: identity for identity in identities},
        )
        for error in outcomes.failed.values():
            raise error
        return {identity: body for identity, body in outcomes.done.items() if body is not None}

    def look(self, keys: Iterable[str]) -> Outcomes[str, dict[str, Any] | None]:
        """Return the live objects of the members named by ``keys``, None for one that is not there."""
        return self._workers.run(self._look, {key: self._set.ref(self._set.members[key]) for key in keys})

    def _look(self, ref: ObjectRef) -> dict[str, Any] | None:
        try:
            return self._api.get(ref)
        except KindNotFound:
            return None

    def _owned(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a member as it is applied: with the set's label and, when it has a place, its namespace."""
        metadata = dict(body["metadata"])
        metadata["labels"] = {**(metadata.get("labels") or {}), PART_OF: self._set.applyset}
        if self._api.resource(str(body["apiVersion"]), str(body["kind"])).namespaced:
            metadata.setdefault("namespace", self._set.namespace)
        return {**body, "metadata": metadata}


def still_to_come(error: ProviderError) -> bool:
    """Return whether a dry-run failed only because the kind or the namespace is not there yet."""
    return isinstance(error, KindNotFound) or (
        isinstance(error, ApiError) and error.not_found and error.message.startswith("namespaces ")
    )
