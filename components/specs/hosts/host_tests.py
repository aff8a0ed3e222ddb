"""Test reports of hosts, and the record of the last passed test of each host."""

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, Field

from components.specs.base import (
    OCI_DIGEST,
    SCHEMA_VERSION,
    CheckedSpec,
    ConstraintViolation,
    DataFile,
    Label,
    Spec,
    Text,
)
from components.specs.hosts.inventory import Serial
from components.specs.natural import naturally
from components.specs.reading.lock_text import entry_text

MOST_TESTS = 10_000
_HEADER = """# yaml-language-server: $schema=../../schemas/host_tests.schema.json
# written by jacquard host; review, do not edit
"""


class Outcome(StrEnum):
    """Result of a test."""

    PASS = "pass"  # noqa: S105 - a result, not a password
    """The host met all limits of the test."""
    FAIL = "fail"
    """The host missed a limit, or the test did not end."""


class SingleTest(Spec):
    """Result of one test of a run."""

    name: Text
    """Name of the test, unique in the report, such as ``nccl_loopback``."""
    result: Outcome
    """Whether the host passed the test."""
    value: float | None = None
    """Measured value; optional."""
    unit: Text | None = None
    """Unit of the measured value, such as ``GB/s``; optional."""


class HostTestReport(CheckedSpec):
    """Report of one test run on one host, as a JSON file. Any tool can write it, such as a burn-in job."""

    schema_version: int = Field(ge=SCHEMA_VERSION, le=SCHEMA_VERSION)
    """Version of this format."""
    host: Label
    """Name of the tested host in the inventory."""
    serial: Serial | None = None
    """Serial number of the tested chassis as its BMC reports it; optional. It must match the inventory."""
    tool: Text
    """Name and version of the tool that ran the tests."""
    started: AwareDatetime
    """Start of the run, with its offset from UTC."""
    finished: AwareDatetime
    """End of the run, with its offset from UTC."""
    result: Outcome
    """Result of the whole run."""
    tests: Annotated[tuple[SingleTest, ...], Field(min_length=1, max_length=MOST_TESTS)]
    """Results of all tests of the run."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an end before the start, and duplicate tests."""
        if self.finished < self.started:
            text = f"must not be before started, {self.started.isoformat()}; correct the clock of the tool"
            yield ConstraintViolation(text, ("finished",), self.finished.isoformat())
        for name, count in Counter(test.name for test in self.tests).items():
            if count > 1:
                yield ConstraintViolation(f"has {count} results of test '{name}'; keep one of them", ("tests",))

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the names of the failed tests."""
        return tuple(test.name for test in self.tests if test.result is Outcome.FAIL)


class HostTestSpec(Spec):
    """Last passed test of a host."""

    passed: AwareDatetime
    """End of the passed test run, with its offset from UTC."""
    digest: Annotated[str, Field(pattern=OCI_DIGEST)]
    """Digest of the file with the test report. The file itself is not part of the data."""
    by: Text | None = None
    """Person or group that moved the host to production. Required if ``host_movers`` of ``policy.yaml`` limits it."""


class HostTestsFile(DataFile):
    """``host_tests.yaml``, an optional file to which ``jacquard host --to production`` adds the last test of a host."""

    WRITTEN_BY_COMMAND = True

    hosts: dict[Label, HostTestSpec] = Field(default_factory=dict)
    """Passed tests by name of the host, one line each."""


def host_tests_text(hosts: Mapping[str, HostTestSpec]) -> str:
    """Return the text of ``host_tests.yaml``: one line for each host, in natural order."""
    lines = (f"  {name}: {_entry(hosts[name])}\n" for name in naturally(hosts))
    return f"{_HEADER}schema_version: {HostTestsFile.FORMAT}\nhosts:\n{''.join(lines)}"


def _entry(test: HostTestSpec) -> str:
    passed = test.passed.isoformat(timespec="seconds").replace("+00:00", "Z")
    by = f", by: {entry_text(test.by)}" if test.by else ""
    return f'{{passed: {passed}, digest: "{test.digest}"{by}}}'
