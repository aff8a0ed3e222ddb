"""Attribution of changes to edits: edits that cause a change if they are tried alone, otherwise together."""

from collections.abc import Callable, Iterable, Sequence

from components.lookups.effects.changes import Change
from components.specs.reading.lock_text import entry_text
from components.specs.reading.problems import shortened
from components.specs.secret_text import shown_at
from jacquard.previews.impacts.edit_groups import EditGroup
from jacquard.previews.impacts.edits import Edit
from jacquard.previews.impacts.impact import Cause
from jacquard.previews.impacts.scopes import Scope, Scopes
from jacquard.previews.impacts.trials import Trials, change_id
from jacquard.previews.snapshots import Key

_FEW = 4
"""Maximum number of edits of a group that are tried one by one."""
_Test = Callable[[Iterable[EditGroup]], bool | None]
"""Returns whether groups of edits cause a change on their own; None if they cannot be tried."""


class Causes:
    """Attributes changes to the edits between a base and a head.

    Args:
        scopes: scopes of edits.
        groups: edits that are tried together.
        trials: trials of edits; None if the rendering code differs, because edits are then not the only cause.
    """

    def __init__(self, scopes: Scopes, groups: Sequence[EditGroup], trials: Trials | None) -> None:
        self._scopes = scopes
        self._groups = groups
        self._trials = trials

    def of(self, about: Scope, key: Key, changes: Sequence[Change]) -> tuple[Cause, ...]:
        """Return the edits that caused ``changes`` of component ``key`` in the scope ``about``.

        Edits of hand-written files are first, and then the nearest edits.
        """
        causes = self._test(key, changes)
        if self._trials and len(self._groups) == 1:
            groups = list(self._groups)
        else:
            groups = [group for group in self._groups if causes([group])]
        together = not groups
        groups = groups or self._together(causes)
        if groups:
            edits = [edit for group in groups for edit in self._narrowed(group, about, causes)]
        else:
            edits = self._untried(about)
        edits.sort(key=lambda edit: (edit.locked, self._scopes.distance(edit, about)))
        return tuple(cause(edit, alone=not together or len(groups) < 2) for edit in edits)  # noqa: PLR2004

    def _test(self, key: Key, changes: Sequence[Change]) -> _Test:
        wanted = frozenset(map(change_id, changes))

        def causes(groups: Iterable[EditGroup]) -> bool | None:
            edits = (edit for group in groups for edit in (*group.edits, *group.details))
            found = self._trials.changes(edits) if self._trials else None
            return None if found is None else not wanted.isdisjoint(found.get(key, ()))

        return causes

    def _together(self, causes: _Test) -> list[EditGroup]:
        """Return the groups without which the others do not cause the changes; empty if the groups cannot be tried."""
        without = {id(group): causes(other for other in self._groups if other is not group) for group in self._groups}
        if None in without.values():
            return []
        return [group for group in self._groups if not without[id(group)]]

    def _untried(self, about: Scope) -> list[Edit]:
        """Return the nearest edits to ``about``; all edits if none is near and no code can be the cause."""
        edits = [edit for group in self._groups for edit in group.edits]
        return self._scopes.nearest(about, edits) or (edits if self._trials else [])

    def _narrowed(self, group: EditGroup, about: Scope, causes: _Test) -> list[Edit]:
        """Return the edits of ``group`` that are nearest to ``about``; of a few edits, those that are causes alone."""
        near = self._scopes.nearest(about, group.edits) or list(group.edits)
        if 1 < len(near) <= _FEW:
            return [edit for edit in near if causes([EditGroup(edits=(edit,), details=group.details)])] or near
        return near


def cause(edit: Edit, *, alone: bool = True) -> Cause:
    """Return ``edit`` as a cause, with secrets masked and values shortened."""
    old, new = (_text(shown_at(edit.steps, value)) for value in (edit.old, edit.new))
    return Cause(file=edit.file, line=edit.line, path=edit.path, old=old, new=new, alone=alone)


def _text(value: object) -> str | None:
    """Return a value in one line, with secrets masked by `shortened`."""
    return None if value is None else shortened(entry_text(value))
