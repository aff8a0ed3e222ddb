"""Effects of settings that select the management cluster or the state of a region, which no object contains."""

from collections.abc import Iterable, Iterator

from components.lookups.effects.effect import Effect, Subject, When
from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from jacquard.previews.impacts.causes import cause
from jacquard.previews.impacts.edits import Edit
from jacquard.previews.impacts.impact import Forced, Row

_CONTEXT = (
    "'up' would create every object again in another management cluster; objects of the present one would stay, and "
    "both would control the same hosts."
)
_STATE = "'up' would start with the state at the new place; if it is empty, 'up' creates every object again."


def moved_region(base: Environment, head: Environment, edits: Iterable[Edit]) -> Iterator[Row]:
    """Yield a row for each cluster if the change selects another management cluster or another state."""
    was, will = base.region, head.region
    moved = []
    if was.context is not None and was.context != will.context:
        moved.append(("context", _CONTEXT))
    if was.state is not None and was.state != will.state and was.state.backend != (will.state and will.state.backend):
        moved.append(("state.backend", _STATE))
    if not moved:
        return
    forced = tuple(
        Forced(kind=REGION, path=path, effect=Effect.UNKNOWN, objects=0, first="every object", why=why, source=None)
        for path, why in moved
    )
    causes = tuple(
        cause(edit) for edit in edits if edit.file == REGION and any(path.startswith(edit.path) for path, _ in moved)
    )
    owners: list[tuple[str, str | None]] = [(placed.cluster.name, placed.tenant.tenant) for placed in clusters(base)]
    for name, tenant in owners or [("everything", None)]:
        yield Row(
            falls_on=Subject.PLATFORM,
            part=name,
            tenant=tenant,
            effect=Effect.UNKNOWN,
            when=When.AT_ONCE,
            count=None,
            gpus=None,
            forced_by=forced,
            causes=causes,
        )
