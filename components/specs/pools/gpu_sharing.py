"""GPU sharing between pods: MIG devices or time-slicing."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, ConstraintViolation

MIG_PROFILE = r"^[1-7]g\.[1-9][0-9]{0,2}gb$"
MigProfile = Annotated[str, StringConstraints(pattern=MIG_PROFILE)]
"""Name of a MIG profile as printed by ``nvidia-smi mig -lgip``, such as ``1g.10gb``. Profiles with media or graphics
extensions are not supported."""


class GpuSharingSpec(CheckedSpec):
    """GPU sharing of a pool: one of two methods, used for all GPUs of all nodes."""

    mig: MigProfile | None = None
    """MIG profile of each GPU, one of the profiles of the instance type. Each GPU gets as many instances as possible.
    An instance has separate memory and multiprocessors, and pods request ``nvidia.com/mig-<profile>``."""
    time_slices: int | None = Field(default=None, ge=2, le=64)
    """Number of pods that share each GPU by time-slicing. Pods are not isolated from each other's memory use and
    faults, and they request ``nvidia.com/gpu.shared``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a spec with both methods or neither."""
        if (self.mig is None) == (self.time_slices is None):
            methods = "neither mig nor time_slices" if self.mig is None else "both mig and time_slices"
            yield ConstraintViolation(f"has {methods}; write one of the two")
