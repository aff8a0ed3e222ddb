"""Reader of test reports of hosts."""

import hashlib
import json
from typing import Any

from pydantic import ValidationError

from components.specs.hosts.host_tests import HostTestReport, HostTestSpec
from components.specs.reading.problems import Problem, SpecError, dotted
from components.specs.reading.translate import mistakes
from components.specs.struct import Struct

MAX_BYTES = 4_000_000
_REMEDY = "pass the JSON report of a test run (docs/hosts/host-states.md)"


class ReportFile(Struct):
    """Test report with the name and digest of its file."""

    file: str
    """Name of the file, for messages."""
    report: HostTestReport
    """Content of the file."""
    digest: str
    """Digest of the file, ``sha256:`` and 64 hex digits."""

    @property
    def record(self) -> HostTestSpec:
        """Return the record of the report in the data."""
        return HostTestSpec(passed=self.report.finished, digest=self.digest)


def read_report(environment: str, file: str, raw: bytes) -> ReportFile:
    """Return the test report with content ``raw``.

    Raises:
        SpecError: the file is not a test report; contains all problems.
    """
    try:
        data: Any = json.loads(raw) if len(raw) <= MAX_BYTES else None
    except json.JSONDecodeError as error:
        text = f"is not JSON: {error.msg.lower()}; {_REMEDY}"
        raise SpecError(environment, [Problem(file, error.lineno, "", text)]) from None
    except (UnicodeDecodeError, RecursionError):
        raise SpecError(environment, [Problem(file, 0, "", f"is not JSON in UTF-8; {_REMEDY}")]) from None
    if not isinstance(data, dict):
        raise SpecError(environment, [Problem(file, 0, "", f"is not a test report; {_REMEDY}")])
    try:
        report = HostTestReport.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        found = mistakes(error, HostTestReport, data)
        problems = [Problem(file, 0, dotted(mistake.path), mistake.text) for mistake in found]
        raise SpecError(environment, problems) from None
    return ReportFile(file=file, report=report, digest=f"sha256:{hashlib.sha256(raw).hexdigest()}")
