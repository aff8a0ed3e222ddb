"""Edits of data files between a base and a head: changed values with their lines."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from components.specs.fleet.delegation import may_be_home
from components.specs.reading.files import read_text
from components.specs.reading.inventory_csv import read_inventory
from components.specs.reading.kinds import data_files
from components.specs.reading.loader import ALLOCATIONS, FLEET, IMAGE_PINS, REGION, environments
from components.specs.reading.positions import Place
from components.specs.reading.problems import dotted
from components.specs.reading.strict_yaml import StrictYamlReader
from components.specs.struct import Struct, field

Steps: TypeAlias = tuple[str, ...]
"""Path in a data file; list entries are identified by name if all entries have a name, otherwise by index."""
_ABSENT = object()
_ANY = "*"
_NAMES = ("name", "version", "host", "tenant", "key")
"""Fields that identify list entries; the first field that all entries have is used."""
_SEALS = frozenset({("digest",), ("beside",)})
"""Fields of a whole lock file, written only by commands."""


class Edit(Struct):
    """One changed, added or removed value."""

    file: str
    """File relative to the folder of the environment, as in reports."""
    line: int
    """Line of the value in the head; for a removed value, its line in the base."""
    steps: Steps
    pattern: Steps = ()
    """``steps`` with ``*`` for names of list entries and of hosts: equal for edits of one field of several entries."""
    old: Any = None
    """Value in the base; None for an added value."""
    new: Any = None
    """Value in the head; None for a removed value."""

    @property
    def path(self) -> str:
        """Return the path in dotted form."""
        return dotted(self.steps)

    @property
    def place(self) -> str:
        """Return ``file:line``."""
        return f"{self.file}:{self.line}"

    @property
    def locked(self) -> bool:
        """Return whether the file is a lock file, which only commands write."""
        return self.file in (ALLOCATIONS, IMAGE_PINS)


class _Read(Struct, kw_only=False):
    value: Any = _ABSENT
    place: Place = field(default_factory=lambda: Place(0))
    named: bool = False
    """Whether the keys are names of entries."""


def edits(base: Path, head: Path, environment: str) -> tuple[Edit, ...]:
    """Return the edits between the files of ``environment`` in two folders of all environments.

    Byte-identical files are not parsed. Changes of comments and of the order of keys are not edits.
    """
    files = _files_of_both(base, head, environment)
    return tuple(edit for file in files for edit in _in_file(base, head, environment, file))


def has_edits_outside(base: Path, head: Path, environment: str) -> bool:
    """Return whether there are edits of files outside the folder of ``environment``, such as those of the catalogue.

    Its own files are not read.
    """
    files = (file for file in _files_of_both(base, head, environment) if file.startswith("../"))
    return any(True for file in files for _ in _in_file(base, head, environment, file))


def with_edit(document: Any, steps: Steps, value: Any) -> Any:
    """Return ``document`` with ``value`` at ``steps``, which identify list entries by name; None removes the value."""
    if not steps:
        return value
    step, *rest = steps
    if isinstance(document, list):
        names = _names(document)
        changed = [
            with_edit(entry, tuple(rest), value) for entry, name in zip(document, names, strict=True) if name == step
        ] or [value]
        others = [entry for entry, name in zip(document, names, strict=True) if name != step]
        at = names.index(step) if step in names else len(others)
        return [*others[:at], *(entry for entry in changed if entry is not None), *others[at:]]
    inner = with_edit((document or {}).get(step), tuple(rest), value)
    kept = {key: item for key, item in (document or {}).items() if inner is not None or key != step}
    return kept if inner is None else {**kept, step: inner}


def _files_of_both(base: Path, head: Path, environment: str) -> list[str]:
    return sorted(_files(base, environment).keys() | _files(head, environment).keys())


def _files(folder: Path, environment: str) -> dict[str, Path]:
    """Return the files that declare an environment, by their name in reports."""
    home = folder / environment
    files = [path for path, kind in data_files(folder, [environment]) if kind.of_region] + sorted(
        home.glob("inventory/*.csv")
    )
    return {_name(path, folder, home): path for path in (*files, *_of_fleet(folder, environment))}


def _of_fleet(folder: Path, environment: str) -> Iterator[Path]:
    """Yield the files with the DNS of all regions, if ``environment`` is the home of the fleet's zone."""
    fleet = folder / environment / FLEET
    if fleet.exists() and may_be_home(fleet.read_text(encoding="utf-8", errors="replace"), environment):
        yield folder / fleet.name
        yield from (folder / name / REGION for name in environments(folder) if name != environment)


def _name(path: Path, folder: Path, home: Path) -> str:
    return path.relative_to(home).as_posix() if path.is_relative_to(home) else f"../{path.relative_to(folder)}"


def _in_file(base: Path, head: Path, environment: str, file: str) -> Iterator[Edit]:
    before, after = (folder / environment / file for folder in (base, head))
    if before.exists() and after.exists() and before.read_bytes() == after.read_bytes():
        return
    old, new = _read(before, file), _read(after, file)
    for steps, pattern, was, will in _differences(old, new):
        if steps not in _SEALS and _is_rendered(file, steps):
            line = (was if will.value is _ABSENT else will).place.line
            yield Edit(
                file=file, line=line, steps=steps, pattern=pattern, old=_value(was.value), new=_value(will.value)
            )


def is_other_region(file: str) -> bool:
    """Return whether ``file`` is ``region.yaml`` of a region other than the environment."""
    return file.startswith("../") and file.endswith(f"/{REGION}")


def _is_rendered(file: str, steps: Steps) -> bool:
    """Return whether a value can change objects of the environment; of the fleet and other regions, only DNS does."""
    section, *rest = steps or ("dns",)  # a file that is added or removed has no steps
    if file == FLEET and section == "regions":
        return rest[1:] in ([], ["status"])
    return section == "dns" or not (file == FLEET or is_other_region(file))


def document(folder: Path, environment: str, file: str) -> Any:
    """Return the content of a YAML file of ``environment``; None if the file is missing or empty."""
    return _value(_read(folder / environment / file, file).value)


def edits_between(file: str, old: Any, new: Any) -> Iterator[Edit]:
    """Yield the edits between two contents of ``file``, without lines."""
    for steps, pattern, was, will in _differences(_Read(old), _Read(new)):
        yield Edit(file=file, line=0, steps=steps, pattern=pattern, old=_value(was.value), new=_value(will.value))


def _value(value: Any) -> Any:
    return None if value is _ABSENT else value


def _read(path: Path, file: str) -> _Read:
    text, problem = read_text(path, file, path.parent) if path.exists() else ("", None)
    if problem or not path.exists():
        return _Read()
    if path.suffix == ".csv":
        hosts, place, _ = read_inventory(file, text, path.stem.removeprefix("hall-"))
        return _Read({host.host: host.model_dump(mode="json", exclude={"hall"}) for host in hosts}, place, named=True)
    value, place = StrictYamlReader(file, max_values=len(text)).read(text)
    return _Read(value, place)


def _differences(
    old: _Read, new: _Read, steps: Steps = (), pattern: Steps = ()
) -> Iterator[tuple[Steps, Steps, _Read, _Read]]:
    """Yield differing values with their paths and patterns; a value on one side only is a single difference."""
    if old.value == new.value:
        return
    was, will = _inside(old), _inside(new)
    if was is None or will is None:
        yield steps, pattern, old, new
        return
    named = new.named or isinstance(new.value, list)
    for step in dict.fromkeys((*was, *will)):
        inner = (was.get(step, _Read()), will.get(step, _Read()))
        yield from _differences(*inner, (*steps, step), (*pattern, _ANY if named else step))


def _inside(read: _Read) -> Mapping[str, _Read] | None:
    """Return the values inside a mapping or list by key or name; None for other values."""
    match read.value:
        case dict() as value:
            return {str(key): _Read(inner, read.place.inner.get(key, read.place)) for key, inner in value.items()}
        case list() as value if value and all(isinstance(entry, dict) for entry in value):
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
            names = [_unique(name, names[:at], entries[at]) for at, name in enumerate(names)]
            if len(set(names)) == len(names):
                return names
    return [str(index) for index in range(len(entries))]


def _unique(name: str, before: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Return a unique name: from the second release of a chart on, the name ends with the version."""
    return f"{name} {entry['version']}" if name in before and "version" in entry else name
