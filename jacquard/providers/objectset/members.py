"""Operations on the members of a set in the cluster: read, dry run, apply."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, KindNotFound, ObjectRef
from jacquard.providers.objectset.applyset import FIELD_MANAGER, MEMBER, PART_OF
from jacquard.providers.objectset.explaining import managers, owned_fields
from jacquard.providers.objectset.inputs import Identity, ObjectSet
from jacquard.providers.objectset.session import Session
from jacquard.providers.objectset.workers import Outcomes


class Members:
    """The members of a set in a cluster."""

    def __init__(self, session: Session, wanted: ObjectSet) -> None:
        self._api = session.api
        self._workers = session.workers
        self._taking = session.taking
        self._set = wanted
        self.taken: list[str] = []
        """Fields that were (in a dry run: would be) taken from other managers, as text."""

    def apply(self, items: Mapping[str, Identity], *, dry_run: bool = False) -> Outcomes[str, dict[str, Any]]:
        """Apply the members with the keys of ``items`` and return the live objects; failures do not stop the others."""
        return self._workers.run(lambda key: self._apply(key, items[key], dry_run=dry_run), {key: key for key in items})

    def try_over(self, key: str) -> dict[str, Any]:
        """Return the result of a forced dry-run apply of a member, regardless of field ownership."""
        return self._api.apply(self.owned(key), field_manager=FIELD_MANAGER, dry_run=True, force=True)

    def owned(self, key: str) -> dict[str, Any]:
        """Return a member as it is applied: with the set's marks and, for a namespaced kind, its namespace."""
        body = self._set.members[key]
        metadata = dict(body["metadata"])
        metadata["labels"] = {**(metadata.get("labels") or {}), PART_OF: self._set.applyset}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), MEMBER: key}
        if self._api.resource(str(body["apiVersion"]), str(body["kind"])).namespaced:
            metadata.setdefault("namespace", self._set.namespace)
        return {**body, "metadata": metadata}

    def labelled(
        self, kinds: Collection[tuple[str, str]], namespaces: Collection[str], *, metadata_only: bool = False
    ) -> list[dict[str, Any]]:
        """Return all objects of these kinds and namespaces with this set's label.

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
            lambda place: self._api.list(
                place[0], place[1], namespace=place[2], label_selector=selector, metadata_only=metadata_only
            ),
            places,
        )
        for error in outcomes.failed.values():
            raise error
        return [body for bodies in outcomes.done.values() for body in bodies]

    def look(self, keys: Iterable[str]) -> Outcomes[str, dict[str, Any] | None]:
        """Return the live objects of the members with these keys, None for an object that does not exist."""
        return self._workers.run(self._read, {key: self._set.ref(self._set.members[key]) for key in keys})

    def _apply(self, key: str, identity: Identity, *, dry_run: bool) -> dict[str, Any]:
        body = self.owned(key)
        try:
            return self._api.apply(body, field_manager=FIELD_MANAGER, dry_run=dry_run)
        except ApiError as error:
            if not error.conflicts or not managers(error.conflicts) <= self._taking:
                raise
            live = self._api.apply(body, field_manager=FIELD_MANAGER, dry_run=dry_run, force=True)
            self.taken.append(f"{identity} {owned_fields(error.conflicts)}")
            return live

    def _version(self, group: str, kind: str) -> str | None:
        """Return the set's apiVersion of a kind if it is served, otherwise another served apiVersion."""
        used = self._set.versions().get((group, kind))
        try:
            if used is not None:
                self._api.resource(used, kind)
                return used
        except KindNotFound:
            pass
        return self._api.version(group, kind)

    def _read(self, ref: ObjectRef) -> dict[str, Any] | None:
        try:
            return self._api.get(ref)
        except KindNotFound:
            return None


def marked(body: Mapping[str, Any]) -> bool:
    """Return whether an object with a set's label also has the mark of a member, because labels are easily copied."""
    return MEMBER in (body["metadata"].get("annotations") or {})


def still_to_come(error: ProviderError) -> bool:
    """Return whether a dry run failed only because the kind or the namespace does not exist yet."""
    return isinstance(error, KindNotFound) or (
        isinstance(error, ApiError) and error.not_found and error.message.startswith("namespaces ")
    )
