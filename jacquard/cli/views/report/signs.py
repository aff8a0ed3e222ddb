"""Signs of hosts on the map: a letter, a CSS class for both themes, and a text for the legend."""

from components.lookups.effects.effect import Effect, When
from components.lookups.host_use import HostUse
from components.specs.struct import Struct
from jacquard.previews.impacts.hosts import HostImpact, Move


class Sign(Struct, kw_only=False, order=True):
    """Style of a host on the map, distinguishable without colours."""

    order: int
    """Position in the legend, the worst first."""
    letter: str
    style: str
    """CSS class."""
    text: str


_EFFECTS = {
    Effect.UNKNOWN: Sign(0, "?", "unknown", "unknown"),
    Effect.REFUSED: Sign(1, "!", "refused", "refused"),
    Effect.DELETED: Sign(2, "D", "deleted", "deleted"),
    Effect.REPLACED: Sign(3, "R", "replaced", "replaced"),
    Effect.RE_FLASHED: Sign(4, "F", "re-flashed", "re-flashed"),
    Effect.REBOOTED: Sign(5, "B", "rebooted", "rebooted"),
    Effect.RESTARTED: Sign(6, "S", "restarted", "restarted"),
    Effect.PROVISIONED: Sign(8, "p", "in-place", "provisioned"),
    Effect.IN_PLACE: Sign(9, "i", "in-place", "changed in place"),
}
_MOVES = {
    Move.GOES: Sign(7, "-", "goes", "removed from its pool"),
    Move.COMES: Sign(8, "+", "comes", "added as a node"),
}
_SCALES = Sign(8, "~", "comes", "scales")
_UNTOUCHED = {
    HostUse.NODE: Sign(20, "", "node", "node, not affected"),
    HostUse.SPARE: Sign(21, "s", "spare", "spare, not affected"),
    HostUse.FREE: Sign(22, "", "free", "free"),
    HostUse.OUT_OF_SERVICE: Sign(23, "x", "out", "out of service"),
    None: Sign(24, "", "gone", "removed from the inventory"),
}
_LATER = 10
"""Offset in the legend between an immediate effect and the same effect at a later time."""


def sign(host: HostImpact) -> Sign:
    """Return the sign of ``host``."""
    if not host.rows or host.effect is Effect.NONE:
        return _UNTOUCHED[host.use]
    now = of_effect(host.effect, host.move)
    if host.when is When.AT_ONCE:
        return now
    return Sign(now.order + _LATER, now.letter, f"{now.style} later", f"{now.text}, {host.when}")


def of_effect(effect: Effect, move: Move | None = None) -> Sign:
    """Return the sign of an effect; scaling depends on whether the host is added or removed."""
    if effect is Effect.SCALES:
        return _MOVES[move] if move else _SCALES
    return _EFFECTS.get(effect, _UNTOUCHED[HostUse.NODE])
