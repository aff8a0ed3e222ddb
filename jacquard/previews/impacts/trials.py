"""Trials of edits: the changes of objects if only some edits of a change are applied to the base."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from components.allocate.allocation import attempt
from components.lookups.effects.changes import Change, changes
from components.lookups.pools import tenant_file
from components.specs.base import DataFile
from components.specs.environment import Environment
from components.specs.fleet.delegation import delegated
from components.specs.fleet.fleet import FleetSpec
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.out_of_service import OutOfServiceFile
from components.specs.reading.kinds import KINDS
from components.specs.reading.loader import FLEET, REGION, region_file
from components.specs.reading.problems import SpecError
from components.specs.region.region import RegionSpec
from components.specs.region.tenant import TenantSpec
from jacquard.previews.impacts.edits import Edit, Steps, document, is_other_region, with_edit
from jacquard.previews.snapshots import Key, Side, side

MOST = 12
"""Maximum number of trials; each renders the changed components of the region."""
_FIELDS = {"vm_offerings": "vm_catalog", "allocations.lock": "allocations", "images.lock": "image_pins"}
"""Fields of an environment by kind of file, if the names differ."""
_INCONSISTENT = (SpecError, LookupError, ValueError, TypeError, AttributeError, StopIteration)
"""Errors of data that are incomplete without the other edits of the change."""
_Model = TypeVar("_Model", bound=DataFile)
ChangeId: TypeAlias = tuple[str, str, str | None, str, str]
"""Cluster, kind, namespace and name of an object, and the changed path."""


class Trials:
    """Applies edits to the base, allocates what they require, and compares the rendered objects with the base."""

    def __init__(self, base: Side, head: Environment, folder: Path) -> None:
        self._base = base
        self._head = {host.host: host for host in head.hosts}
        self._folder = folder
        self._done: dict[frozenset[tuple[str, Steps]], Mapping[Key, frozenset[ChangeId]]] = {}

    @property
    def left(self) -> int:
        """Return the number of further trials."""
        return MOST - len(self._done)

    def changes(self, edits: Iterable[Edit]) -> Mapping[Key, frozenset[ChangeId]] | None:
        """Return the changes of each component if only ``edits`` are applied to the base.

        Returns:
            None if no further trial is allowed; no changes if the data are incomplete without other edits.
        """
        tried = tuple(edits)
        key = frozenset((edit.file, edit.steps) for edit in tried)
        if key not in self._done:
            if not self.left:
                return None
            try:
                self._done[key] = self._changes(tried)
            except _INCONSISTENT:
                self._done[key] = {}
        return self._done[key]

    def _changes(self, edits: Sequence[Edit]) -> Mapping[Key, frozenset[ChangeId]]:
        data = self._with(edits)
        wanted = attempt(data)
        after = side(data.model_copy(update={"allocations": wanted.numbers, "image_pins": wanted.pins})).parts
        before = self._base.parts
        found = {}
        for key in before.keys() | after.keys():
            was, will = before.get(key), after.get(key)
            if not was or not will or was.concept != will.concept:
                different = changes(was.objects() if was else (), will.objects() if will else ())
                found[key] = frozenset(map(change_id, different))
        return found

    def _with(self, edits: Sequence[Edit]) -> Environment:
        """Return the environment of the base with ``edits`` applied to its files."""
        by_file: dict[str, list[Edit]] = defaultdict(list)
        for edit in edits:
            by_file[edit.file].append(edit)
        environment = self._base.environment
        tenants = {tenant_file(tenant): tenant for tenant in environment.tenants}
        update: dict[str, Any] = {"hosts": self._hosts(by_file)}
        contents = {file: self._content(file, mine) for file, mine in by_file.items()}
        for file, content in contents.items():
            if file == FLEET or is_other_region(file):
                continue
            if file.startswith("tenants/"):
                tenants.pop(file, None)
                tenants |= {} if content is None else {file: _spec(TenantSpec, content)}
            elif not file.startswith("inventory/"):
                kind = next(kind for kind in KINDS if kind.path == file.removeprefix("../"))
                spec = _spec(kind.model, content)
                update[_FIELDS.get(kind.name, kind.name)] = spec.hosts if isinstance(spec, OutOfServiceFile) else spec
        update["tenants"] = tuple(tenants[file] for file in sorted(tenants))
        if any(file in (FLEET, REGION) or is_other_region(file) for file in contents):
            update |= self._dns_of_fleet(contents)
        return environment.model_copy(update=update)

    def _content(self, file: str, edits: Sequence[Edit] = ()) -> Any:
        content = document(self._folder, self._base.environment.name, file)
        for edit in edits:
            content = with_edit(content, edit.steps, edit.new)
        return content

    def _dns_of_fleet(self, contents: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the environment about the zone of the fleet, with the edited ``contents`` of files."""
        name = self._base.environment.name

        def read(file: str, model: type[_Model]) -> _Model:
            return _spec(model, contents[file] if file in contents else self._content(file))

        def region(other: str) -> RegionSpec:
            return read(REGION if other == name else region_file(other), RegionSpec)

        fleet = read(FLEET, FleetSpec)
        if fleet.dns is None or fleet.dns.home != name:
            return {"fleet_dns": None, "delegated": {}}
        return {"fleet_dns": fleet.dns, "delegated": delegated(fleet, region)}

    def _hosts(self, by_file: Mapping[str, Sequence[Edit]]) -> tuple[HostSpec, ...]:
        hosts = {host.host: host for host in self._base.environment.hosts}
        for edit in (edit for file, mine in by_file.items() if file.startswith("inventory/") for edit in mine):
            name, *column = edit.steps
            if name not in self._head:
                hosts.pop(name, None)
            elif column and name in hosts:
                hosts[name] = hosts[name].model_copy(update={column[0]: getattr(self._head[name], column[0])})
            else:
                hosts[name] = self._head[name]
        return tuple(sorted(hosts.values(), key=lambda host: host.hall))


def change_id(change: Change) -> ChangeId:
    """Return the identity of a changed field or object, without its values."""
    item = change.manifest
    return item.cluster, change.kind, item.namespace, item.name, change.path


def _spec(model: type[_Model], content: Any) -> _Model:
    if content is None:
        return model.empty()
    return model.model_validate_json(json.dumps(content), strict=True)
