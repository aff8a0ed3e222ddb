"""Objects that exist already and are not this set's: which it takes over, and which it refuses to touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jacquard.providers.objectset import applyset
from jacquard.providers.objectset.inputs import Identity, ObjectSet, brief
from jacquard.providers.objectset.looking import existing
from jacquard.providers.objectset.session import Session


class ExistingObjects:
    """What stands where a set's new members are to come."""

    def __init__(self, session: Session, wanted: ObjectSet, urn: str) -> None:
        self._session = session
        self._set = wanted
        self._urn = urn
        self._makers: dict[str, str | None] = {}

    def refusals(self, candidates: Mapping[Identity, str | None]) -> Iterator[str]:
        """Yield, in words, the objects that exist and cannot be this set's, with the remedy.

        One that is being deleted would go as soon as it is applied. Others are this set's by label or by recorded uid;
        one with another set's label is not, whatever its uid, unless that set gives it up in the same program.
        """
        versions = self._set.versions()
        asked = {identity: versions[identity.group, identity.kind] for identity in candidates}
        found = existing(self._session, asked, metadata_only=True)
        for identity in sorted(found):
            metadata = found[identity]["metadata"]
            owner = (metadata.get("labels") or {}).get(applyset.PART_OF)
            if metadata.get("deletionTimestamp"):
                yield f"{identity} is being deleted; run again once it is gone"
            elif owner == self._set.applyset or (not owner and brief(found[identity]) == candidates[identity]):
                continue
            elif not owner:
                yield f"{identity} exists and belongs to no set; delete it, or remove it from this set"
            elif (maker := self._maker(owner)) is None:
                yield f"{identity} exists and belongs to {owner}; delete it, or remove it from this set"
            elif _stack(maker) != _stack(self._urn):
                yield f"{identity} belongs to the set of {maker}; remove it there before it is added here"
            elif self._session.announced.wants(owner, identity):
                yield f"{identity} is wanted by the set {owner} too; remove it from one of the two"

    def _maker(self, owner: str) -> str | None:
        """Return the URN of the resource that another set belongs to, None when that cannot be told.

        When it is of this stack, all sets of the program are known before the answer is used.
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
