"""Drivers that support the GPUs of an instance type (``gpu_drivers.yaml``)."""

from functools import cache
from pathlib import Path

from pydantic import Field

from components.lookups.table_files import table_rows
from components.specs.base import Label, Spec, Text
from components.specs.natural import numbers

FILE = Path(__file__).with_suffix(".yaml")


class DriverRange(Spec):
    """Drivers that support the GPUs of one architecture."""

    architecture: Text
    models: tuple[Label, ...] = Field(min_length=1)
    """Starts of model names, before the first hyphen."""
    since: Text = Field(alias="from")
    """First driver with support."""
    below: Text | None = None
    """First later driver without support; None if support continues."""

    def supported_by(self, driver: str) -> bool:
        """Return whether ``driver``, such as ``580.105.08``, supports the architecture."""
        return numbers(self.since) <= numbers(driver) and (not self.below or numbers(driver) < numbers(self.below))


def drivers_of(model: str) -> DriverRange | None:
    """Return the drivers for the GPU ``model``, such as ``h100-sxm5-80gb``; None for a model without an entry."""
    start = model.partition("-")[0]
    return next((entry for entry in _ranges() if start in entry.models), None)


@cache
def _ranges() -> tuple[DriverRange, ...]:
    return table_rows(FILE, DriverRange)
