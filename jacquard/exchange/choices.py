"""Options of an import: the mapping of keys and values of a foreign file, and the selection of rows."""

import re
from collections.abc import Iterable, Iterator, Mapping

from components.specs.base import BMC_ADDRESS
from components.specs.reading.inventory_csv import ALL_COLUMNS
from components.specs.reading.problems import Problem, listed, shown, suggestion
from components.specs.struct import Struct, field
from jacquard.exchange.addresses import DRIVER, SYSTEM_PATH, bmc_url
from jacquard.exchange.records import Record, is_credential, known_keys
from jacquard.exchange.renames import Renames

HALL = "hall"
"""Pseudo-column with the hall of a row; rows of other halls are skipped."""
MAX_LISTED = 12
_PLACE = re.compile(r"\{([a-z_]*)\}")
_TEMPLATES = ("rack", "slot", "host", "instance_type", "leaf")
"""Columns that a fixed value can refer to in braces."""


class Choices(Struct):
    """Options of an import; mappings contain the texts left and right of ``=``."""

    maps: Mapping[str, str] = field(default_factory=dict)
    """Inventory column, or ``hall``, by key of the file."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Value of a column that neither file nor inventory sets; ``bmc-{rack}`` contains each host's rack."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Instance type by its name in the file."""
    racks: Renames = field(default_factory=Renames)
    """Racks of the inventory by their name in the file."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Value that a selected row must have, by key of the file."""
    driver: str | None = None
    """Driver of BMCs given as an address; None for the existing driver of the host, or the default driver."""
    system_path: str = SYSTEM_PATH

    def url(self, address: str) -> str:
        """Return ``address`` as a BMC address of Metal3."""
        driver = self.driver or DRIVER
        return bmc_url(address, driver, "" if driver.startswith("ipmi") else self.system_path)

    def counts(self, item: Record) -> bool:
        """Return whether the options select ``item``."""
        return all(item.value(key) == value for key, value in self.only.items())


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return ``template`` with the values of the names in braces."""
    return _PLACE.sub(lambda match: values.get(match[1], ""), template)


def wrong_choices(choices: Choices, records: Iterable[Record], instance_types: Iterable[str]) -> Iterator[Problem]:
    """Report options with unknown names; the ``file`` of such a problem is the option."""
    keys = known_keys(records) if choices.maps or choices.only else []
    columns = (*ALL_COLUMNS, HALL)
    for key, column in choices.maps.items():
        yield from _unknown_key(f"--map {key}={column}", key, keys)
        yield from _unknown(f"--map {key}={column}", "column", column, columns)
    for key, value in choices.only.items():
        yield from _unknown_key(f"--only {key}={value}", key, keys)
    for column, value in choices.fixed.items():
        option = f"--set {column}={value}"
        yield from _unknown(option, "column", column, ALL_COLUMNS)
        for name in _PLACE.findall(value):
            yield from _unknown(option, "name in braces", name, _TEMPLATES)
    yield from choices.racks.problems()
    for name, kind in choices.types.items():
        yield from _unknown(f"--type '{name}={kind}'", "instance type", kind, instance_types)
    if not re.match(BMC_ADDRESS, choices.url("host")):
        text = f"driver and path are not in Metal3's form (got {shown(choices.url('10.0.0.1'))}); write {DRIVER}"
        yield Problem("--bmc-driver", 0, "", f"{text} and {SYSTEM_PATH}")


def _unknown_key(option: str, key: str, keys: list[str]) -> Iterator[Problem]:
    if is_credential(key):
        text = f"'{key}' is a credential, which is never read; store it in a Secret and name the Secret in bmc_secret"
        yield Problem(option, 0, "", text)
    elif key not in keys and not any(known.startswith((f"{key}.", f"{key}[")) for known in keys):
        yield from _unknown(option, "key of a row", key, keys)


def _unknown(option: str, what: str, name: str, names: Iterable[str]) -> Iterator[Problem]:
    known = list(names)
    if name not in known:
        near = suggestion(name, known) or "; choose a listed name"
        yield Problem(option, 0, "", f"'{name}' is not a valid {what} ({listed(known, MAX_LISTED)}){near}")
