"""Finds existing objects that are not in the set, and decides for each object: adopt or reject."""

from collections.abc import Iterator, Mapping

from jacquard.providers.objectset import applyset
from jacquard.providers.objectset.inputs import Identity, ObjectSet, brief
from jacquard.providers.objectset.looking import existing
from jacquard.providers.objectset.session import Session


class ExistingObjects:
    """Existing objects with the identities of a set's new members."""

    def __init__(self, session: Session, wanted: ObjectSet, urn: str) -> None:
        self._session = session
        self._set = wanted
        self._urn = urn
        self._makers: dict[str, str | None] = {}

    def refusals(self, candidates: Mapping[Identity, str | None]) -> Iterator[str]:
        """Yield the existing objects that the set cannot adopt, as messages with the remedy.

        An object that is being deleted would disappear after the apply. The set can adopt objects with its label or a
        recorded uid. It cannot adopt an object with another set's label, whatever its uid, unless the other set drops
        the object in the same program.
        """
        versions = self._set.versions()
        versioned = {identity: versions[identity.group, identity.kind] for identity in candidates}
        objects = existing(self._session, versioned, metadata_only=True)
        for identity in sorted(objects):
            metadata = objects[identity]["metadata"]
            owner = (metadata.get("labels") or {}).get(applyset.PART_OF)
            if metadata.get("deletionTimestamp"):
                yield f"{identity} is being deleted; run again after its deletion"
            elif owner == self._set.applyset or (not owner and brief(objects[identity]) == candidates[identity]):
                continue
            elif not owner:
                yield f"{identity} exists outside any set; delete it, or remove it from this set"
            elif (maker := self._maker(owner)) is None:
                yield f"{identity} exists and belongs to {owner}; delete it, or remove it from this set"
            elif _stack(maker) != _stack(self._urn):
                yield f"{identity} belongs to the set of {maker}; remove it there before it is added here"
            elif self._session.announced.wants(owner, identity):
                yield f"{identity} is also a member of the set {owner}; remove it from one of the sets"

    def _maker(self, owner: str) -> str | None:
        """Return the URN of the resource that owns another set; None if unknown.

        If the resource is in this stack, wait until all sets of the program are known.
        """
        if owner not in self._makers:
            parents = self._session.api.list(
                "v1", "ConfigMap", namespace=self._set.namespace, label_selector=f"{applyset.ID}={owner}"
            )
            makers = (applyset.maker(parent) for parent in parents if applyset.foreign(parent) is None)
            self._makers[owner] = maker = next(makers, None)
            if maker is not None and _stack(maker) == _stack(self._urn):
                self._session.announced.settle(self._session.workers.cancelled)
        return self._makers[owner]


def _stack(urn: str) -> list[str]:
    """Return stack and project of a resource."""
    return urn.split("::")[:2]
