"""Results of rules as a Code Quality report of GitLab, shown in merge requests and at their lines of the change.

GitLab compares the reports of both branches by fingerprint, so a fingerprint contains no line number.
Source: docs.gitlab.com/ci/testing/code_quality, "Code Quality report format".
"""

import hashlib
from collections.abc import Iterable
from typing import Any

from jacquard.cli.views.results.places import path
from jacquard.machine import paths
from policies.results import Result


def report(results: Iterable[Result], command: str, failure: str | None = None) -> list[dict[str, Any]]:
    """Return the report of a command.

    Args:
        results: results of rules.
        command: name of the command.
        failure: reason why the command could not judge everything; None if it could.
    """
    entries = {item["fingerprint"]: item for item in map(_entry, results)}
    if failure:
        failed = _issue(f"jacquard {command}", failure, "blocker", paths.environments().name, 1)
        entries[failed["fingerprint"]] = failed
    return list(entries.values())


def _entry(result: Result) -> dict[str, Any]:
    text = f"waived: {result.waiver}\n{result.text}" if result.waiver else result.text
    severity = "info" if result.waiver else "critical" if result.blocks else "minor"
    return _issue(result.rule, text, severity, path(result), max(1, result.line))


def _issue(rule: str, text: str, severity: str, file: str, line: int) -> dict[str, Any]:
    return {
        "description": text,
        "check_name": rule,
        "fingerprint": hashlib.sha256(f"{rule}\n{file}\n{text}".encode()).hexdigest(),
        "severity": severity,
        "location": {"path": file, "lines": {"begin": line}},
    }
