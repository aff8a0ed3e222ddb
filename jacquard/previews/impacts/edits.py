"""What was edited in the data files between a base and a head: each value with the line it stands on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from components.specs.reading.files import read_text
from components.specs.reading.inventory_csv import read_inventory
from components.specs.reading.kinds import data_files
from components.specs.reading.loader import CATALOG
from components.specs.reading.positions import Place
from components.specs.reading.problems import dotted
from components.specs.reading.strict_yaml import StrictYamlReader

Steps: TypeAlias = tuple[str, ...]
"""A path within a data file; an entry of a list is called by its name, if all entries have one."""
_ABSENT = object()
_NAMES = ("name", "version", "host", "tenant", "key")
"""Fields that entries of lists are told apart by, the first that all of them have."""
_SEALS = frozenset({("digest",), ("beside",)})
"""What commands write over a lock file as a whole, and nobody edits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One value that is another, is new, or is gone."""

    file: str
    """File as reports name it, relative to the folder of the environment."""
    line: int
    """Line of the value in the head; of a value that is gone, the line in the base."""
    steps: Steps
    old: Any = None
    """Value in the base; None if there was none."""
    new: Any = None
    """Value in the head; None if there is none."""

    @property
    def path(self) -> str:
        """Return the path as people write it."""
        return dotted(self.steps)

    @property
    def place(self) -> str:
        """Return ``file:line``."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class _Read:
    value: Any = _ABSENT
    place: Place = field(default_factory=lambda: Place(0))


def edits(base: Path, head: Path, environment: str) -> tuple[Edit, ...]:
    """Return what differs between the files of ``environment`` in two folders of all environments.

    Files that are equal to the byte are not read; comments and the order of keys are no difference.
    """
    files = sorted(_files(base, environment).keys() | _files(head, environment).keys())
    return tuple(edit for file in files for edit in _in_file(base, head, environment, file))


def with_edit(document: Any, steps: Steps, value: Any) -> Any:
    """Return ``document`` with ``value`` at ``steps``, which lead through names of entries; None takes it away."""
    if not steps:
        return value
    step, *rest = steps
    if isinstance(document, list):
        names = _names(document)
        changed = [
            with_edit(one, tuple(rest), value) for one, name in zip(document, names, strict=True) if name == step
        ] or [value]
        others = [one for one, name in zip(document, names, strict=True) if name != step]
        at = names.index(step) if step in names else len(others)
        return [*others[:at], *(one for one in changed if one is not None), *others[at:]]
    inner = with_edit((document or {}).get(step), tuple(rest), value)
    kept = {key: one for key, one in (document or {}).items() if inner is not None or key != step}
    return kept if inner is None else {**kept, step: inner}


def _files(folder: Path, environment: str) -> dict[str, Path]:
    """Return the files that say what an environment is to be, by the name that reports give them."""
    home = folder / environment
    found = [path for path, kind in data_files(folder, [environment]) if kind.of_region] + sorted(
        home.glob("inventory/*.csv")
    )
    return {_named(path, folder, home): path for path in found}


def _named(path: Path, folder: Path, home: Path) -> str:
    shared = path.is_relative_to(folder / CATALOG)
    return f"../{path.relative_to(folder)}" if shared else path.relative_to(home).as_posix()


def _in_file(base: Path, head: Path, environment: str, file: str) -> Iterator[Edit]:
    before, after = (folder / environment / file for folder in (base, head))
    if before.exists() and after.exists() and before.read_bytes() == after.read_bytes():
        return
    old, new = _read(before, file), _read(after, file)
    for steps, (was, was_at), (will, will_at) in _differences(old, new, ()):
        if steps not in _SEALS:
            line = was_at if will is _ABSENT else will_at
            yield Edit(file=file, line=line, steps=steps, old=_value(was), new=_value(will))


def _value(value: Any) -> Any:
    return None if value is _ABSENT else value


def _read(path: Path, file: str) -> _Read:
    text, problem = read_text(path, file, path.parent) if path.exists() else ("", None)
    if problem or not path.exists():
        return _Read()
    if path.suffix == ".csv":
        hosts, place, _ = read_inventory(file, text, path.stem.removeprefix("hall-"))
        return _Read({host.host: host.model_dump(mode="json", exclude={"hall"}) for host in hosts}, place)
    value, place = StrictYamlReader(file, max_values=len(text)).read(text)
    return _Read(value, place)


_Side: TypeAlias = tuple[Any, int]


def _differences(old: _Read, new: _Read, steps: Steps) -> Iterator[tuple[Steps, _Side, _Side]]:
    """Yield the values that differ with their lines; what is on one side only is one difference, whole."""
    if old.value == new.value:
        return
    was, will = _inside(old), _inside(new)
    if was is None or will is None:
        yield steps, (old.value, old.place.line), (new.value, new.place.line)
        return
    for step in dict.fromkeys((*was, *will)):
        yield from _differences(was.get(step, _Read()), will.get(step, _Read()), (*steps, step))


def _inside(read: _Read) -> Mapping[str, _Read] | None:
    """Return what is inside a value by its key or name; None where nothing is."""
    match read.value:
        case dict() as value:
            return {str(key): _Read(inner, read.place.inner.get(key, read.place)) for key, inner in value.items()}
        case list() as value if value and all(isinstance(one, dict) for one in value):
            names = _names(value)
            return {
                names[index]: _Read(inner, read.place.inner.get(index, read.place)) for index, inner in enumerate(value)
            }
        case _:
            return None


def _names(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    for key in _NAMES:
        names = [str(entry.get(key, "")) for entry in entries]
        if all(names):
            names = [_apart(name, names[:at], entries[at]) for at, name in enumerate(names)]
            if len(set(names)) == len(names):
                return names
    return [str(index) for index in range(len(entries))]


def _apart(name: str, before: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Return what tells an entry from those ``before`` it: of a chart all releases but the first say their version."""
    return f"{name} {entry['version']}" if name in before and "version" in entry else name
