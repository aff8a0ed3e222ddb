"""Tests of nodes: what each one runs, on which hardware, and how long."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, ConstraintViolation, Label, Spec, Text
from components.specs.health.node_checks import Part

Minutes = Annotated[int, Field(ge=1, le=1440)]
MOST_VERIFICATION_MINUTES = 20
"""Maximum expected duration of one verification."""
_Argument = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class Phase(StrEnum):
    """Occasion of a test."""

    BURN_IN = "burn-in"
    """Once, before pods of tenants are scheduled on a new node."""
    VERIFICATION = "verification"
    """Regularly, while no pod uses devices of the node."""


class NodeTest(CheckedSpec):
    """Test of the library: a container that ends with exit code 0 if the hardware is in order."""

    name: Label
    """Name of the test, and of its container."""
    part: Part
    """Hardware that a node must have for the test to run."""
    summary: Text
    """What the test verifies."""
    source: Text
    """Source of command, exit code and duration."""
    tool: Label
    """Image of the container, among the tools of the version vector."""
    command: tuple[_Argument, ...] = Field(min_length=1, max_length=32)
    """Command of the container. ``{gpus}`` is the number of GPUs, ``{seconds}`` the expected duration."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Environment variables of the container."""
    burn_in_minutes: Minutes | None = None
    """Expected duration of one run in a burn-in; None if the test is not part of it."""
    verification_minutes: Minutes | None = None
    """Expected duration in a verification; None if the test is not part of it."""
    measures: str | None = Field(default=None, max_length=256)
    """Regular expression with one group: the measured value in the last lines of the output, more is better. Nodes of
    one failure domain and instance type are compared by it."""
    unit: Text | None = None
    """Unit of the measured value."""

    def minutes(self, phase: Phase) -> int | None:
        """Return the expected duration in ``phase``; None if the test is not part of it."""
        return self.burn_in_minutes if phase is Phase.BURN_IN else self.verification_minutes

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a test of no phase, and an expression without exactly one group."""
        if self.burn_in_minutes is None and self.verification_minutes is None:
            yield ConstraintViolation("is part of no phase; set burn_in_minutes or verification_minutes", ("name",))
        if self.measures is not None and re.compile(self.measures).groups != 1:
            yield ConstraintViolation("must have exactly one group", ("measures",), self.measures)


class NodeTestsSpec(Spec):
    """Tests of the nodes of a region, in clusters with an add-on that provides ``node-readiness``."""

    burn_in_hours: int = Field(default=24, ge=1, le=168)
    """Duration of the burn-in of a new node, rounded up to whole rounds of all tests. It applies to pools with
    ``health.burn_in: gated``."""
    verification_interval_minutes: int = Field(default=60, ge=60, le=10_080)
    """Minutes between two verifications of an idle node with GPUs. All idle nodes are verified at the same time, so
    that neighbours are compared under the same load of the network."""
