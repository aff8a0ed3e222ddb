"""Groups of edits that are tried together: edits of one field of several entries, and edits of one lock file.

Lock files follow from the data. Only their remaining edits, such as promoted pins and released hosts, form groups.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from components.allocate.allocation import attempt
from components.specs.environment import Environment
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS, OUT_OF_SERVICE
from components.specs.struct import Struct
from jacquard.previews.impacts.edits import Edit, edits_between
from jacquard.previews.impacts.scopes import Scope, Scopes

_LOCKS = (ALLOCATIONS, IMAGE_PINS)
_DETAILS = frozenset(
    {"addresses", "quarantine", "intents", "dpu_intents", "chart_intents", "rollouts", "waves", "previous"}
)
"""Sections of lock files that commands write together with the hosts or pins of other sections."""


class EditGroup(Struct):
    """Edits that are tried together."""

    edits: tuple[Edit, ...]
    """Possible causes."""
    details: tuple[Edit, ...] = ()
    """Edits of a lock file that belong to ``edits``, such as the intents of promoted pins."""


def edit_groups(base: Environment, head: Environment, edits: Sequence[Edit], scopes: Scopes) -> tuple[EditGroup, ...]:
    """Return the groups of ``edits``, those of hand-written files first; edits that follow from others are omitted."""
    fields: dict[Any, list[Edit]] = defaultdict(list)
    locked: list[Edit] = []
    for edit in edits:
        if edit.locked:
            locked.append(edit)
        else:
            fields[_field(edit)].append(edit)
    written = [EditGroup(edits=tuple(alike)) for alike in fields.values()]
    return (*written, *_of_locks(base, head, locked, scopes))


def _field(edit: Edit) -> tuple[str, tuple[str, ...]]:
    """Return the kind of file and the pattern of an edit."""
    folder, _, name = edit.file.rpartition("/")
    if edit.file == OUT_OF_SERVICE:
        return edit.file, ("hosts", "*", *edit.pattern[2:])
    return (folder if folder in {"tenants", "inventory"} else name), edit.pattern


def _of_locks(base: Environment, head: Environment, edits: Sequence[Edit], scopes: Scopes) -> Iterator[EditGroup]:
    followed = _followed(base, head, scopes) if edits else frozenset()
    for file in _LOCKS:
        mine = [edit for edit in edits if edit.file == file]
        rest = [edit for edit in mine if edit.steps[0] not in _DETAILS and _owner(edit, scopes) not in followed]
        details = [edit for edit in mine if edit.steps[0] in _DETAILS]
        if rest:
            yield EditGroup(edits=tuple(rest), details=tuple(details))


def _followed(base: Environment, head: Environment, scopes: Scopes) -> frozenset[tuple[str, str, Scope]]:
    """Return the owners of the entries that ``jacquard allocate`` changes because of the data."""
    before = (base.allocations, base.image_pins)
    wanted = attempt(head.model_copy(update={"allocations": before[0], "image_pins": before[1]}))
    locks = zip(_LOCKS, before, (wanted.numbers, wanted.pins), strict=True)
    return frozenset(
        _owner(edit, scopes)
        for file, was, will in locks
        for edit in edits_between(file, was.model_dump(mode="json"), will.model_dump(mode="json"))
    )


def _owner(edit: Edit, scopes: Scopes) -> tuple[str, str, Scope]:
    return edit.file, edit.steps[0], scopes.of_edit(edit)[0]
