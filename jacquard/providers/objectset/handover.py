"""Members that go from one set to another, when a rack is renamed or split: handed over as they are, never deleted.

The engine checks the sets of a program one by one and starts to update the first before it has seen the last. So what
each set wants is noted when it is checked, and whoever is about to delete or to take over something first waits until
no further set has come for a while.
"""

from __future__ import annotations

import threading
import time

from jacquard.providers.objectset.inputs import Identity, ObjectSet

SETTLE_SECONDS = 2.0
"""How many seconds a set waits for others of its program, which registers its sets within milliseconds of each
other."""


class Announcements:
    """What the sets of the running program want, by the id of their ApplySets."""

    def __init__(self) -> None:
        self._wanted: dict[str, tuple[ObjectSet, frozenset[Identity]]] = {}
        self._patched: dict[str, frozenset[Identity]] = {}
        self._last = time.monotonic()

    def announce(self, wanted: ObjectSet) -> None:
        """Note what a set wants; said once more, it counts as said last."""
        self._wanted[wanted.applyset] = wanted, frozenset(wanted.identities())
        self._patched[wanted.applyset] = frozenset(wanted.targets())
        self._last = time.monotonic()

    def settle(self, cancelled: threading.Event) -> None:
        """Wait until no set has been announced for `SETTLE_SECONDS`, or the run is cancelled."""
        while (left := self._last + SETTLE_SECONDS - time.monotonic()) > 0 and not cancelled.wait(left):
            pass

    def taker(self, owner: ObjectSet, identity: Identity) -> str | None:
        """Return the id of another set that wants an object; None when there is none."""
        for applyset, (wanted, identities) in self._wanted.copy().items():
            if applyset != owner.applyset and identity in identities:
                return wanted.id
        return None

    def patches(self, owner: ObjectSet, identity: Identity) -> bool:
        """Return whether another set applies fields to an object that somebody else makes."""
        return any(identity in known for applyset, known in self._patched.copy().items() if applyset != owner.applyset)

    def wants(self, applyset: str, identity: Identity) -> bool:
        """Return whether the set of this ApplySet id wants an object; one that is not in the program wants nothing."""
        known = self._wanted.get(applyset)
        return known is not None and identity in known[1]
