"""Reader of the data about all regions together: ``fleet.yaml``, ``orders/`` and ``campaigns/``."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from components.specs.base import DNS_LABEL, DataFile
from components.specs.fleet.campaign import CampaignSpec
from components.specs.fleet.fleet import FleetRegionSpec, FleetSpec, RegionStatus
from components.specs.fleet.order import OrderSpec
from components.specs.reading.files import read_text, unreadable
from components.specs.reading.loader import FLEET, REGION, environments
from components.specs.reading.parsing import parsed
from components.specs.reading.positions import Place, Positions
from components.specs.reading.problems import Problem, SpecError, dotted
from components.specs.struct import Struct

NAME = "fleet"
"""Name of the fleet in reports, where a region has the name of its environment."""
ORDERS = "orders"
"""Folder of the orders, below the folder of all environments."""
CAMPAIGNS = "campaigns"
"""Folder of the campaigns, below the folder of all environments."""
_Model = TypeVar("_Model", bound=DataFile)


class Fleet(Struct):
    """Valid content of ``fleet.yaml``, ``orders/`` and ``campaigns/``.

    `components.rules.fleet` compares it with the regions.
    """

    spec: FleetSpec | None
    """Content of the file; None if there is no such file."""
    orders: tuple[OrderSpec, ...] = ()
    """Content of each file of ``orders/``, in order of file names."""
    campaigns: tuple[CampaignSpec, ...] = ()
    """Content of each file of ``campaigns/``, in order of file names."""
    folders: tuple[str, ...]
    """Names of all environments, including unreadable ones."""
    positions: Positions
    """Lines of all values of the files."""

    @property
    def regions(self) -> dict[str, FleetRegionSpec]:
        """Return the regions of the file by name; empty if there is no such file."""
        return self.spec.regions if self.spec else {}

    def is_closed(self, region: str) -> bool:
        """Return whether ``region`` takes no orders, according to the file."""
        return region in self.regions and self.regions[region].status is not RegionStatus.OPEN

    def reservations(self, region: str, order: OrderSpec | None = None) -> tuple[OrderSpec, ...]:
        """Return the orders that are reserved in ``region``, except ``order``."""
        found = (item for item in self.orders if item.reserved_in == region and item.placed_in is None)
        return tuple(item for item in found if order is None or item.order != order.order)

    def problem(self, file: str, path: Sequence[str | int], text: str) -> Problem:
        """Return a problem at the line of ``path`` in ``file``."""
        return Problem(file, self.positions.line(file, path), dotted(path), text)

    def place(self, file: str, path: Sequence[str | int]) -> str:
        """Return ``file:line`` of the value at ``path``, for references in messages."""
        return self.problem(file, path, "").place


def order_file(order: str) -> str:
    """Return the file of ``order``, relative to the folder of an environment."""
    return f"../{ORDERS}/{order}.yaml"


def campaign_file(campaign: str) -> str:
    """Return the file of ``campaign``, relative to the folder of an environment."""
    return f"../{CAMPAIGNS}/{campaign}.yaml"


def load_fleet(folder: Path) -> Fleet:
    """Return the fleet of ``folder`` (all environments). Files that do not exist count as empty.

    Raises:
        SpecError: Contains all problems of the files.
    """
    reader = _Reader(folder)
    spec = reader.fleet()
    orders = tuple(reader.named(ORDERS, "order", OrderSpec))
    campaigns = tuple(reader.named(CAMPAIGNS, "campaign", CampaignSpec))
    if reader.problems:
        raise SpecError(NAME, reader.problems)
    folders, positions = tuple(environments(folder)), Positions(reader.places)
    return Fleet(spec=spec, orders=orders, campaigns=campaigns, folders=folders, positions=positions)


def load_regions(folder: Path) -> FleetSpec | None:
    """Return the content of ``fleet.yaml`` in ``folder`` (all environments); None if there is no such file.

    Raises:
        SpecError: Contains all problems of the file.
    """
    reader = _Reader(folder)
    spec = reader.fleet()
    if reader.problems:
        raise SpecError(NAME, reader.problems)
    return spec


class _Reader:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.places: dict[str, Place] = {}
        self.problems: list[Problem] = []

    def fleet(self) -> FleetSpec | None:
        """Return the content of ``fleet.yaml``; None, with recorded problems if it exists and is invalid."""
        path = self._folder / Path(FLEET).name
        return self.read(path, FLEET, FleetSpec) if path.exists() or path.is_symlink() else None

    def read(self, path: Path, file: str, model: type[_Model]) -> _Model | None:
        """Return the content of ``path``; None, with recorded problems, if it is invalid."""
        text, problem = read_text(path, file, self._folder)
        if problem:
            self.problems.append(problem)
            return None
        spec, self.places[file], problems = parsed(file, text, model)
        self.problems += problems
        return spec if isinstance(spec, model) else None

    def named(self, folder: str, key: str, model: type[_Model]) -> Iterator[_Model]:
        """Yield the files of ``folder`` by file name, and record problems of names.

        Args:
            folder: folder below the folder of all environments.
            key: field with the name, which is also the name of the file.
            model: model of each file.
        """
        home = self._folder / folder
        if (home / REGION).exists():
            return  # `load_environment` reports a region with a reserved name.
        if fault := unreadable(home):
            self.problems.append(Problem(f"../{folder}", 0, "", fault))
            return
        for path in sorted(path for path in home.glob("*") if not path.name.startswith(".")):
            file = f"../{folder}/{path.name}"
            if path.suffix != ".yaml" or not re.fullmatch(DNS_LABEL, path.stem):
                text = f"is not read; rename it to <{key}>.yaml in lower case, or remove it"
                self.problems.append(Problem(file, 0, "", text))
                continue
            spec = self.read(path, file, model)
            name = getattr(spec, key, path.stem)
            if name != path.stem:
                line = self.places[file].inner[key].line
                text = f"is '{name}' in {file}; write {path.stem}, or rename the file to {name}.yaml"
                self.problems.append(Problem(file, line, key, text))
            if spec:
                yield spec
