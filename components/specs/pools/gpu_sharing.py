"""GPUs that several pods share: cut into MIG devices, or given to several at once in turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, Misfit

MIG_PROFILE = r"^[1-7]g\.[1-9][0-9]{0,2}gb$"
MigProfile = Annotated[str, StringConstraints(pattern=MIG_PROFILE)]
"""Name of a MIG profile as ``nvidia-smi mig -lgip`` prints it, such as ``1g.10gb``; those with media or graphics
extensions are not known here."""


class GpuSharingSpec(CheckedSpec):
    """How pods share the GPUs of a pool, in one of two ways, the same for all GPUs of all its nodes."""

    mig: MigProfile | None = None
    """MIG profile that each GPU is cut into as often as it goes, one that the instance type lists. Each piece has
    memory and multiprocessors of its own, and pods ask for ``nvidia.com/mig-<profile>``."""
    time_slices: int | None = Field(default=None, ge=2, le=64)
    """Number of pods that take turns on each GPU. Nothing keeps one from the memory that another needs, nor from its
    faults, and pods ask for ``nvidia.com/gpu.shared``."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield both ways at once, or none."""
        if (self.mig is None) == (self.time_slices is None):
            given = "neither mig nor time_slices" if self.mig is None else "both mig and time_slices"
            yield Misfit(f"has {given}; write one of the two")
