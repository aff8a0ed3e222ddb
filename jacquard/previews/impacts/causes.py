"""Which edit did it: the nearest to what changed, and of several that are equally near, those that do it alone."""

from __future__ import annotations

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
    """Knows the edits between a base and a head."""

    def __init__(self, scopes: Scopes, edits: Sequence[Edit], alone: Alone | None) -> None:
        self._scopes = scopes
        self._edits = edits
        self._alone = alone

    def of(self, about: Scope, key: Key, changes: Sequence[Change]) -> tuple[Cause, ...]:
        """Return the edits that made ``changes`` in what component ``key`` has ``about`` something."""
        near = self._scopes.nearest(about, self._edits)
        values = [change.new for change in changes]
        found = [edit for edit in near if edit.new is not None and edit.new in values] or near
        if len(found) > 1 and self._alone:
            found = [edit for edit in found if self._alone.may_touch(edit, key)] or found
        return tuple(map(_cause, found))


def _cause(edit: Edit) -> Cause:
    return Cause(file=edit.file, line=edit.line, path=edit.path, old=_text(edit.old), new=_text(edit.new))


def _text(value: object) -> str | None:
    return None if value is None else shortened(entry_text(value))
