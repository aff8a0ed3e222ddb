"""Reader of the data about all regions together: ``fleet.yaml``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from components.specs.fleet.fleet import FleetRegionSpec, FleetSpec, RegionStatus
from components.specs.reading.files import read_text
from components.specs.reading.loader import environments
from components.specs.reading.parsing import parsed
from components.specs.reading.positions import Place, Positions
from components.specs.reading.problems import Problem, SpecError, dotted

NAME = "fleet"
"""Name of the fleet in reports, where a region has the name of its environment."""
FLEET = "../fleet.yaml"
"""File of the fleet, relative to the folder of an environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Valid content of ``fleet.yaml``; `components.rules.fleet` compares it with the regions."""

    spec: FleetSpec | None
    """Content of the file; None if there is no such file."""
    folders: tuple[str, ...]
    """Names of all environments, including unreadable ones."""
    positions: Positions
    """Lines of all values of the file."""

    @property
    def regions(self) -> dict[str, FleetRegionSpec]:
        """Return the regions of the file by name; empty if there is no such file."""
        return self.spec.regions if self.spec else {}

    def is_closed(self, region: str) -> bool:
        """Return whether ``region`` takes no orders, according to the file."""
        return region in self.regions and self.regions[region].status is not RegionStatus.OPEN

    def problem(self, file: str, path: Sequence[str | int], text: str) -> Problem:
        """Return a problem at the line of ``path`` in ``file``."""
        return Problem(file, self.positions.line(file, path), dotted(path), text)

    def place(self, file: str, path: Sequence[str | int]) -> str:
        """Return ``file:line`` of the value at ``path``, for references in messages."""
        return self.problem(file, path, "").place


def load_fleet(folder: Path) -> Fleet:
    """Return the fleet of ``folder`` (all environments).

    Raises:
        SpecError: Contains all problems of the files.
    """
    places: dict[str, Place] = {}
    problems: list[Problem] = []
    spec = None
    path = folder / Path(FLEET).name
    if path.exists() or path.is_symlink():
        text, problem = read_text(path, FLEET, folder)
        found = [problem] if problem else []
        if not problem:
            spec, places[FLEET], found = parsed(FLEET, text, FleetSpec)
        problems += found
    if problems:
        raise SpecError(NAME, problems)
    return Fleet(
        spec=spec if isinstance(spec, FleetSpec) else None,
        folders=tuple(environments(folder)),
        positions=Positions(places),
    )
