"""How a host is drawn: a letter, a name for its colours in both themes, and words for the legend."""

from __future__ import annotations

from dataclasses import dataclass

from components.lookups.effects.effect import Effect, When
from components.lookups.host_use import HostUse
from jacquard.previews.impacts.hosts import HostImpact, Move


@dataclass(frozen=True, slots=True, order=True)
class Sign:
    """A way to draw hosts, which no other is drawn like, also by those who tell no colours apart."""

    order: int
    """Place in the legend, the worst first."""
    letter: str
    style: str
    """Class in the style sheet."""
    words: str


_EFFECTS = {
    Effect.UNKNOWN: Sign(0, "?", "unknown", "unknown"),
    Effect.REFUSED: Sign(1, "!", "refused", "refused"),
    Effect.DELETED: Sign(2, "D", "deleted", "deleted"),
    Effect.REPLACED: Sign(3, "R", "replaced", "replaced"),
    Effect.RE_FLASHED: Sign(4, "F", "re-flashed", "re-flashed"),
    Effect.REBOOTED: Sign(5, "B", "rebooted", "rebooted"),
    Effect.RESTARTED: Sign(6, "S", "restarted", "programs restarted"),
    Effect.IN_PLACE: Sign(9, "i", "in-place", "changed in place"),
}
_MOVES = {
    Move.GOES: Sign(7, "-", "goes", "leaves its pool's nodes"),
    Move.COMES: Sign(8, "+", "comes", "becomes a node"),
}
_SCALES = Sign(8, "~", "comes", "scales")
_UNTOUCHED = {
    HostUse.NODE: Sign(20, "", "node", "node, untouched"),
    HostUse.SPARE: Sign(21, "s", "spare", "spare, untouched"),
    HostUse.FREE: Sign(22, "", "free", "free"),
    HostUse.OUT_OF_SERVICE: Sign(23, "x", "out", "out of service"),
    None: Sign(24, "", "gone", "in the inventory no more"),
}
_LATER = 10
"""Places by which what happens later stands after what happens at once."""


def sign(host: HostImpact) -> Sign:
    """Return how ``host`` is drawn."""
    if not host.rows or host.effect is Effect.NONE:
        return _UNTOUCHED[host.use]
    found = of_effect(host.effect, host.move)
    if host.when is When.AT_ONCE:
        return found
    return Sign(found.order + _LATER, found.letter, f"{found.style} later", f"{found.words}, {host.when}")


def of_effect(effect: Effect, move: Move | None = None) -> Sign:
    """Return how an effect is drawn, of a group that scales by whether the host comes or goes."""
    if effect is Effect.SCALES:
        return _MOVES[move] if move else _SCALES
    return _EFFECTS.get(effect, _UNTOUCHED[HostUse.NODE])
