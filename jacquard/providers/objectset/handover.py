"""Transfers members between sets without changing or deleting the objects, such as after a rack is renamed or split.

The engine checks the sets of a program one by one and starts to update the first set before it has checked the last.
Each set therefore announces its members when it is checked. Before it deletes or adopts objects, a set waits until no
further set has been announced for a while.
"""

import threading
import time

from jacquard.providers.objectset.inputs import Identity, ObjectSet

SETTLE_SECONDS = 2.0
"""Waiting time for other sets of the program, in seconds; a program registers its sets within milliseconds of each
other."""


class Announcements:
    """Members and patches of the sets of the running program, by the id of their ApplySets."""

    def __init__(self) -> None:
        self._wanted: dict[str, tuple[ObjectSet, frozenset[Identity]]] = {}
        self._patched: dict[str, frozenset[Identity]] = {}
        self._last = time.monotonic()

    def announce(self, wanted: ObjectSet) -> None:
        """Record the members and patches of a set; a repeated announcement restarts the wait."""
        self._wanted[wanted.applyset] = wanted, frozenset(wanted.identities())
        self._patched[wanted.applyset] = frozenset(wanted.targets())
        self._last = time.monotonic()

    def settle(self, cancelled: threading.Event) -> None:
        """Wait until no set has been announced for `SETTLE_SECONDS`, or the run is cancelled."""
        while (left := self._last + SETTLE_SECONDS - time.monotonic()) > 0 and not cancelled.wait(left):
            pass

    def taker(self, owner: ObjectSet, identity: Identity) -> str | None:
        """Return the id of another set that wants an object; None without such a set."""
        for applyset, (wanted, identities) in self._wanted.copy().items():
            if applyset != owner.applyset and identity in identities:
                return wanted.id
        return None

    def patches(self, owner: ObjectSet, identity: Identity) -> bool:
        """Return whether another set patches an object of another controller."""
        return any(identity in known for applyset, known in self._patched.copy().items() if applyset != owner.applyset)

    def wants(self, applyset: str, identity: Identity) -> bool:
        """Return whether the set with this ApplySet id wants an object; False for a set outside the program."""
        known = self._wanted.get(applyset)
        return known is not None and identity in known[1]
