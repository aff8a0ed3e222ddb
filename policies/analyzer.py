"""The policy pack as the engine sees it: an analyzer over the SDK's stubs.

The SDK's own ``PolicyPack`` decodes a resource once for every policy, turns an unknown value into a mere advice, and
cannot know which stack it judges. Here a resource is decoded once, the unknown reaches the rules, and the URN says
the stack, which also holds for ``pulumi policy analyze`` on a recorded state.
"""
# ruff: noqa: N802 - the methods are named by the protocol

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from concurrent import futures
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc, plugin_pb2

from components.specs.base import Stage
from components.specs.reading.loader import environments, load_environment
from components.specs.reading.problems import SpecError
from components.specs.region.policy import Enforcement
from jacquard.machine import paths, settings
from jacquard.machine.errors import SettingError
from policies import extensions
from policies.facts import Context, Fact, stack_facts
from policies.judging import Judge, Violation
from policies.rules import RULES
from policies.verdict import Rule, Severity
from policies.wire import facts_of, is_stack, stack_of

PACK = "jacquard"
VERSION = "0.1.0"
_MAX_MESSAGE_BYTES = 400 * 1024 * 1024
_SEVERITIES = {
    Severity.HIGH: analyzer_pb2.POLICY_SEVERITY_HIGH,
    Severity.CRITICAL: analyzer_pb2.POLICY_SEVERITY_CRITICAL,
}
_LEVELS = {
    Enforcement.MANDATORY: analyzer_pb2.MANDATORY,
    Enforcement.ADVISORY: analyzer_pb2.ADVISORY,
}


def context_of(stack: str, now: dt.datetime, *, dry_run: bool) -> Context:
    """Return what is allowed in ``stack``: nothing when it belongs to no environment that can be read."""
    name, folder = stack.partition(".")[0], paths.environments()
    if name in environments(folder):
        try:
            return Context.of(load_environment(name, folder), now, stack, dry_run=dry_run)
        except SpecError:
            pass  # the program tells what is wrong with the data; all that matters here is to let nothing through
    return Context(stack=stack, now=now, dry_run=dry_run)


class Analyzer(analyzer_pb2_grpc.AnalyzerServicer):
    """Judges one resource at a time, as strictly as the data of the environment says.

    Args:
        now: when the run began, with a time zone.
        rules: what it judges by.
    """

    def __init__(self, now: dt.datetime, rules: Sequence[Rule] = RULES) -> None:
        self._now = now
        self._rules = tuple(rules)
        self._dry_run = False
        self._judges: dict[str, tuple[Judge, tuple[Fact, ...]]] = {}
        """By stack: how its environment judges, and whom an apply of it touches."""

    def GetPluginInfo(self, _request: empty_pb2.Empty, _context: Any) -> plugin_pb2.PluginInfo:
        """Return the version of the pack."""
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetAnalyzerInfo(self, _request: empty_pb2.Empty, _context: Any) -> analyzer_pb2.AnalyzerInfo:
        """Return the rules of the pack, each as strict as production has it."""
        policies = [
            analyzer_pb2.PolicyInfo(
                name=rule.name,
                description=rule.description,
                enforcementLevel=_LEVELS[rule.levels.get(Stage.PRODUCTION, Enforcement.ADVISORY)],
                policy_type=analyzer_pb2.POLICY_TYPE_RESOURCE,
                severity=_SEVERITIES[rule.severity],
            )
            for rule in self._rules
        ]
        return analyzer_pb2.AnalyzerInfo(name=PACK, version=VERSION, policies=policies)

    def Configure(self, _request: analyzer_pb2.ConfigureAnalyzerRequest, _context: Any) -> empty_pb2.Empty:
        """Take nothing: levels are data of the environment, where they are reviewed."""
        return empty_pb2.Empty()

    def ConfigureStack(
        self, request: analyzer_pb2.AnalyzerStackConfigureRequest, _context: Any
    ) -> analyzer_pb2.AnalyzerStackConfigureResponse:
        """Take whether anything is applied; which stack it is, each resource's URN says."""
        self._dry_run = request.dry_run
        self._judges.clear()
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Analyze(self, request: analyzer_pb2.AnalyzeRequest, _context: Any) -> analyzer_pb2.AnalyzeResponse:
        """Judge one resource before it is created or changed."""
        judge, touched = self._judge(stack_of(request.urn))
        # A freeze stops an apply at whatever comes first, and is told once in a preview.
        told = touched if is_stack(request) or not self._dry_run else ()
        found = [violation for fact in (*told, *facts_of(request)) for violation in judge.violations(fact)]
        return analyzer_pb2.AnalyzeResponse(diagnostics=[_diagnostic(item, request.urn) for item in found])

    def AnalyzeStack(self, _request: analyzer_pb2.AnalyzeStackRequest, _context: Any) -> analyzer_pb2.AnalyzeResponse:
        """Judge nothing: no rule needs more than one resource."""
        return analyzer_pb2.AnalyzeResponse()

    def Remediate(self, _request: analyzer_pb2.AnalyzeRequest, _context: Any) -> analyzer_pb2.RemediateResponse:
        """Change nothing: what is wrong is put right in the data, where it is reviewed."""
        return analyzer_pb2.RemediateResponse()

    def Cancel(self, _request: empty_pb2.Empty, _context: Any) -> empty_pb2.Empty:
        """Accept; no call takes long enough to be cut short."""
        return empty_pb2.Empty()

    def _judge(self, stack: str) -> tuple[Judge, tuple[Fact, ...]]:
        if stack not in self._judges:
            context = context_of(stack, self._now, dry_run=self._dry_run)
            self._judges[stack] = Judge(self._rules, context), tuple(stack_facts(context))
        return self._judges[stack]


def _diagnostic(violation: Violation, urn: str) -> analyzer_pb2.AnalyzeDiagnostic:
    return analyzer_pb2.AnalyzeDiagnostic(
        policyName=violation.rule.name,
        policyPackName=PACK,
        policyPackVersion=VERSION,
        description=violation.rule.description,
        message=str(violation),
        enforcementLevel=_LEVELS[violation.level],
        urn=urn,
        severity=_SEVERITIES[violation.rule.severity],
    )


def run() -> None:
    """Serve the rules until the engine ends it, or end with what is wrong with one."""
    try:
        now = settings.now()
    except SettingError as error:
        sys.exit(str(error))
    if wrong := extensions.told():
        sys.exit("\n".join(wrong))
    serve(now)


def serve(now: dt.datetime) -> None:
    """Serve the pack until the engine ends it; the port is the first line of standard output."""
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=4),
        options=[("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES)],
    )
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Analyzer(now, extensions.rules()), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    try:
        server.wait_for_termination()
    except KeyboardInterrupt:
        server.stop(0)
