"""Attribution of changes to edits: the edits closest to a change, reduced to edits that alone cause the change."""

from collections.abc import Sequence

from components.lookups.effects.changes import Change
from components.specs.reading.lock_text import entry_text
from components.specs.reading.problems import shortened
from jacquard.previews.impacts.edits import Edit
from jacquard.previews.impacts.head_only import Alone
from jacquard.previews.impacts.impact import Cause
from jacquard.previews.impacts.scopes import Scope, Scopes
from jacquard.previews.snapshots import Key


class Causes:
    """Attributes changes to the edits between a base and a head."""

    def __init__(self, scopes: Scopes, edits: Sequence[Edit], alone: Alone | None) -> None:
        self._scopes = scopes
        self._edits = edits
        self._alone = alone

    def of(self, about: Scope, key: Key, changes: Sequence[Change]) -> tuple[Cause, ...]:
        """Return the edits that caused ``changes`` of component ``key`` in the scope ``about``."""
        nearest = self._scopes.nearest(about, self._edits)
        values = [change.new for change in changes]
        candidates = [edit for edit in nearest if edit.new is not None and edit.new in values] or nearest
        if len(candidates) > 1 and self._alone:
            candidates = [edit for edit in candidates if self._alone.may_touch(edit, key)] or candidates
        return tuple(map(_cause, candidates))


def _cause(edit: Edit) -> Cause:
    return Cause(file=edit.file, line=edit.line, path=edit.path, old=_text(edit.old), new=_text(edit.new))


def _text(value: object) -> str | None:
    return None if value is None else shortened(entry_text(value))
