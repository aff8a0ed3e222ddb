"""Findings of ``jacquard check`` and ``preview`` as SARIF 2.1.0, in the subset that code scanning reads."""

import hashlib
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from components.lookups.effects.effect import Effect
from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, WAIVERS
from components.specs.reading.problems import FORM, Problem
from jacquard.cli.views.check_result import idle
from jacquard.cli.views.rules import rules
from jacquard.previews.impacts.impact import DISRUPTIVE, Impact
from jacquard.previews.preview import Offence, Standing
from policies import Judgement, Violation

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MISFORMED = "A data file does not match its schema."
_IDLE = "policies.idle-waiver"
_UNUSED = "A waiver matches no violation."
_HELP = "The message names the wrong value and the value to write instead."


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem at one line of the repository."""

    rule: str
    uri: str
    """Path of the file, relative to the root of the repository."""
    line: int
    """Line number, from 1."""
    text: str
    level: str = "error"
    waiver: str = ""
    """Reason of the waiver that covers the finding; empty without a waiver."""
    baseline: str = ""
    """SARIF ``baselineState`` of the finding relative to an earlier commit; empty without a comparison."""

    @property
    def fingerprint(self) -> str:
        """Return a digest of the finding, without its line number."""
        return hashlib.sha256(f"{self.rule}\n{self.uri}\n{self.text}".encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return the finding as a SARIF result."""
        place = {"artifactLocation": {"uri": self.uri, "uriBaseId": "%SRCROOT%"}, "region": {"startLine": self.line}}
        return {
            "ruleId": self.rule,
            "level": self.level,
            "message": {"text": self.text},
            "locations": [{"physicalLocation": place}],
            "partialFingerprints": {"primaryLocationLineHash": self.fingerprint},
            **({"baselineState": self.baseline} if self.baseline else {}),
            **({"suppressions": [{"kind": "external", "justification": self.waiver}]} if self.waiver else {}),
        }


def of_problem(problem: Problem, home: str) -> Finding:
    """Return the finding for ``problem`` of the environment in the folder ``home`` of the repository."""
    text = f"{problem.where}{problem.text}"
    return Finding(rule=problem.rule, uri=_uri(home, problem.file), line=max(1, problem.line), text=text)


def of_judgement(judgement: Judgement, environment: Environment, home: str) -> Iterator[Finding]:
    """Yield refused, advisory and waived policy violations, and unused waivers."""
    for violation in (*judgement.refused, *judgement.advised, *judgement.waived):
        yield _of_violation(violation, environment, home)
    for problem, waiver in judgement.waived_checks:
        yield replace(of_problem(problem, home), waiver=str(waiver))
    for index, waiver in enumerate(environment.waivers.waivers):
        if waiver in judgement.idle_waivers:
            line = max(1, environment.positions.line(WAIVERS, ("waivers", index)))
            text = f"{idle(waiver.rule, waiver.subject)}; remove it"
            yield Finding(rule=_IDLE, uri=_uri(home, WAIVERS), line=line, text=text, level="warning")


def _of_violation(violation: Violation, environment: Environment, home: str) -> Finding:
    """Return the finding for ``violation``, located at the cluster of the object, else at the region."""
    body = violation.fact.body
    metadata = body.get("metadata") or {}
    file, line = REGION, 1
    for placed in clusters(environment):
        if placed.cluster.name in {metadata.get("namespace"), metadata.get("name")}:
            file, line = placed.file, environment.positions.line(placed.file, placed.path)
    return Finding(
        rule=violation.rule.name,
        uri=_uri(home, file),
        line=max(1, line),
        text=str(violation),
        level="error" if violation.is_refused or violation.is_waived else "warning",
        waiver=violation.waiver_text if violation.is_waived else "",
    )


def against(base: Iterable[Finding], head: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings of ``head``, with the baseline state ``unchanged`` if also in ``base``, otherwise ``new``."""
    before = {finding.fingerprint for finding in base}
    for finding in head:
        yield replace(finding, baseline="unchanged" if finding.fingerprint in before else "new")


def of_impact(impact: Impact, home: str) -> Iterator[Finding]:
    """Yield a finding with the effect of each edit that disrupts, or may disrupt, running workloads."""
    for row in impact.rows:
        if row.effect in (*DISRUPTIVE, Effect.UNKNOWN, Effect.REFUSED):
            for cause in row.causes:
                what = f"{row.count} {row.falls_on}" if row.count is not None else row.falls_on
                text = f"{row.effect}: {what} of {row.part}"
                rule = f"impact.{row.effect}".replace(" ", "-")
                uri = _uri(home, cause.file)
                yield Finding(rule=rule, uri=uri, line=max(1, cause.line), text=text, level="warning", baseline="new")


def of_offences(offences: Iterable[Offence], home: str) -> Iterator[Finding]:
    """Yield the violations reported only by the engine, located at the file of the region."""
    for violation in offences:
        if violation.standing is Standing.TOLD:
            text = f"{violation.subject}: {violation.found}; {violation.fix}"
            level = "error" if violation.refuses else "warning"
            yield Finding(rule=violation.rule, uri=_uri(home, REGION), line=1, text=text, level=level)


def report(findings: Iterable[Finding], command: str = "check") -> dict[str, Any]:
    """Return the SARIF log of a command; findings shared by several environments are included once."""
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "jacquard", "version": version("jacquard"), "rules": _rules()}},
                "automationDetails": {"id": f"jacquard-{command}/"},
                "columnKind": "unicodeCodePoints",
                "results": [finding.to_json() for finding in dict.fromkeys(findings)],
            }
        ],
    }


def _rules() -> list[dict[str, Any]]:
    known = {name: f"{rule.text}\n\n{rule.why}" if rule.why else rule.text for name, rule in rules().items()}
    texts = {FORM: _MISFORMED, _IDLE: _UNUSED} | {name: text for name, text in known.items() if name != FORM}
    return [
        {
            "id": name,
            "shortDescription": {"text": text.partition("\n")[0]},
            "fullDescription": {"text": text},
            "help": {"text": _HELP},
            "defaultConfiguration": {"level": "error"},
        }
        for name, text in texts.items()
    ]


def _uri(home: str, file: str) -> str:
    return quote(posixpath.normpath(f"{home}/{file}"))
