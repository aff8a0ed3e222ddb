"""The policy pack as the engine sees it: an analyzer over the SDK's stubs.

The SDK's own ``PolicyPack`` decodes a resource once for every policy, turns an unknown value into a mere advice, and
cannot know which stack it judges. Here a resource is decoded once, the unknown reaches the rules, and the URN says
the stack, which also holds for ``pulumi policy analyze`` on a recorded state.
"""
# ruff: noqa: N802 - the methods are named by the protocol

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent import futures
from functools import cache
from typing import Any, TypeAlias

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc, plugin_pb2

from components.specs.loader import environments, load_environment
from components.specs.problems import SpecError
from policies.facts import Context
from policies.rules import RULES
from policies.verdict import Rule, Severity, Violation, violations
from policies.wire import facts_of, stack_of
from toolchain import paths

_Level: TypeAlias = analyzer_pb2.EnforcementLevel.ValueType
PACK = "jacquard"
VERSION = "0.1.0"
_MAX_MESSAGE_BYTES = 400 * 1024 * 1024
_SEVERITIES = {
    Severity.HIGH: analyzer_pb2.POLICY_SEVERITY_HIGH,
    Severity.CRITICAL: analyzer_pb2.POLICY_SEVERITY_CRITICAL,
}


@cache
def context_of(stack: str) -> Context:
    """Return what is allowed in ``stack``: nothing when it belongs to no environment that can be read."""
    name, folder = stack.partition(".")[0], paths.environments()
    if name not in environments(folder):
        return Context(stack=stack)
    try:
        return Context.of(load_environment(name, folder), stack)
    except SpecError:
        # The program tells what is wrong with the data; all that matters here is to let nothing through.
        return Context(stack=stack)


class Analyzer(analyzer_pb2_grpc.AnalyzerServicer):
    """Judges one resource at a time; every rule is mandatory unless the engine configures it otherwise."""

    def __init__(self, rules: Sequence[Rule] = RULES, contexts: Callable[[str], Context] = context_of) -> None:
        self._rules = tuple(rules)
        self._contexts = contexts
        self._levels: dict[str, _Level] = {}

    def GetPluginInfo(self, _request: empty_pb2.Empty, _context: Any) -> plugin_pb2.PluginInfo:
        """Return the version of the pack."""
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetAnalyzerInfo(self, _request: empty_pb2.Empty, _context: Any) -> analyzer_pb2.AnalyzerInfo:
        """Return the rules of the pack."""
        policies = [
            analyzer_pb2.PolicyInfo(
                name=rule.name,
                description=rule.description,
                enforcementLevel=analyzer_pb2.MANDATORY,
                policy_type=analyzer_pb2.POLICY_TYPE_RESOURCE,
                severity=_SEVERITIES[rule.severity],
            )
            for rule in self._rules
        ]
        return analyzer_pb2.AnalyzerInfo(name=PACK, version=VERSION, supportsConfig=True, policies=policies)

    def Configure(self, request: analyzer_pb2.ConfigureAnalyzerRequest, _context: Any) -> empty_pb2.Empty:
        """Take the enforcement levels of ``--policy-pack-config``."""
        self._levels = {name: config.enforcementLevel for name, config in request.policyConfig.items()}
        return empty_pb2.Empty()

    def ConfigureStack(
        self, _request: analyzer_pb2.AnalyzerStackConfigureRequest, _context: Any
    ) -> analyzer_pb2.AnalyzerStackConfigureResponse:
        """Accept the stack; each resource's URN names it again."""
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Analyze(self, request: analyzer_pb2.AnalyzeRequest, _context: Any) -> analyzer_pb2.AnalyzeResponse:
        """Judge one resource before it is created or changed."""
        active = [rule for rule in self._rules if self._level(rule) != analyzer_pb2.DISABLED]
        context = self._contexts(stack_of(request.urn))
        found = [violation for fact in facts_of(request) for violation in violations(active, fact, context)]
        return analyzer_pb2.AnalyzeResponse(diagnostics=[self._diagnostic(item, request.urn) for item in found])

    def AnalyzeStack(self, _request: analyzer_pb2.AnalyzeStackRequest, _context: Any) -> analyzer_pb2.AnalyzeResponse:
        """Judge nothing: no rule needs more than one resource."""
        return analyzer_pb2.AnalyzeResponse()

    def Remediate(self, _request: analyzer_pb2.AnalyzeRequest, _context: Any) -> analyzer_pb2.RemediateResponse:
        """Change nothing: what is wrong is put right in the data, where it is reviewed."""
        return analyzer_pb2.RemediateResponse()

    def Cancel(self, _request: empty_pb2.Empty, _context: Any) -> empty_pb2.Empty:
        """Accept; no call takes long enough to be cut short."""
        return empty_pb2.Empty()

    def _level(self, rule: Rule) -> _Level:
        level = self._levels.get(rule.name, analyzer_pb2.MANDATORY)
        return analyzer_pb2.MANDATORY if level == analyzer_pb2.REMEDIATE else level

    def _diagnostic(self, violation: Violation, urn: str) -> analyzer_pb2.AnalyzeDiagnostic:
        return analyzer_pb2.AnalyzeDiagnostic(
            policyName=violation.rule.name,
            policyPackName=PACK,
            policyPackVersion=VERSION,
            description=violation.rule.description,
            message=str(violation),
            enforcementLevel=self._level(violation.rule),
            urn=urn,
            severity=_SEVERITIES[violation.rule.severity],
        )


def serve() -> None:
    """Serve the pack until the engine ends it; the port is the first line of standard output."""
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=4),
        options=[("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES)],
    )
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Analyzer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    try:
        server.wait_for_termination()
    except KeyboardInterrupt:
        server.stop(0)
