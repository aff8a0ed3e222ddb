"""The policy pack for the Pulumi engine: an analyzer built on the SDK's gRPC stubs.

The SDK's ``PolicyPack`` decodes each resource once per policy, downgrades violations with unknown values to advisory,
and cannot determine the stack. This analyzer decodes a resource once, passes unknown values to the rules, and reads
the stack from the URN, which also works for ``pulumi policy analyze`` on a recorded state.
"""
# ruff: noqa: N802 - the protocol defines the method names

import datetime as dt
import sys
from collections.abc import Sequence
from concurrent import futures
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc, plugin_pb2

from components.specs.reading.loader import environments, load_environment
from components.specs.reading.problems import SpecError
from components.specs.region.policy import Enforcement
from jacquard.machine import paths, settings
from jacquard.machine.errors import SettingError
from policies import extensions
from policies.facts import Context, Fact, stack_facts
from policies.judging import Judge, Violation
from policies.pack.pack_config import DISABLED, REMEDIATE, Overrides, PackConfigError, PolicyConfig
from policies.pack.pack_info import LEVELS, PACK, SEVERITIES, VERSION, analyzer_info
from policies.pack.wire import OBJECT_SET, facts_of, is_stack, stack_of
from policies.rules import RULES
from policies.verdict import Rule

_MAX_MESSAGE_BYTES = 400 * 1024 * 1024
_LEVEL_NAMES = {
    analyzer_pb2.DISABLED: DISABLED,
    analyzer_pb2.REMEDIATE: REMEDIATE,
    analyzer_pb2.ADVISORY: Enforcement.ADVISORY,
    analyzer_pb2.MANDATORY: Enforcement.MANDATORY,
}


def context_of(stack: str, now: dt.datetime, *, dry_run: bool) -> Context:
    """Return the context of ``stack``; without a readable environment, the context allows nothing."""
    name, folder = stack.partition(".")[0], paths.environments()
    if name in environments(folder):
        try:
            return Context.of(load_environment(name, folder), now, stack, dry_run=dry_run)
        except SpecError:
            pass  # The program reports errors in the data; the empty context rejects everything.
    return Context(stack=stack, now=now, dry_run=dry_run)


class Analyzer(analyzer_pb2_grpc.AnalyzerServicer):
    """Evaluates the rules for one resource at a time, with the enforcement levels of the environment.

    Args:
        now: start time of the run, with a time zone.
        rules: rules to evaluate.
    """

    def __init__(self, now: dt.datetime, rules: Sequence[Rule] = RULES) -> None:
        self._now = now
        self._rules = tuple(rules)
        self._dry_run = False
        self._stack = ""
        self._overrides = Overrides()
        self._contexts: dict[str, Context] = {}
        """Context of each stack, without overrides."""
        self._judges: dict[str, tuple[Judge, tuple[Fact, ...]]] = {}
        """Judge of each stack's environment, and facts about the tenants that an apply of the stack affects."""
        self._objects: dict[str, tuple[Fact, ...]] = {}
        """Objects of each evaluated resource, by URN. The recorded outputs of an object set contain no objects."""

    def GetPluginInfo(self, _request: empty_pb2.Empty, _context: Any) -> plugin_pb2.PluginInfo:
        """Return the version of the pack."""
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetAnalyzerInfo(self, _request: empty_pb2.Empty, _context: Any) -> analyzer_pb2.AnalyzerInfo:
        """Return the rules of the pack with the levels of the stack's environment; of production without a stack."""
        return analyzer_info(self._rules, self._context(self._stack))

    def Configure(
        self, request: analyzer_pb2.ConfigureAnalyzerRequest, context: grpc.ServicerContext
    ) -> empty_pb2.Empty:
        """Make levels and parameters stricter; the engine prints errors and ends."""
        config = {
            name: PolicyConfig(level=_LEVEL_NAMES.get(item.enforcementLevel), values=_values(item.properties))
            for name, item in request.policyConfig.items()
        }
        try:
            self._overrides = Overrides.of(config, self._rules, self._context(self._stack))
        except PackConfigError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        self._judges.clear()
        return empty_pb2.Empty()

    def ConfigureStack(
        self, request: analyzer_pb2.AnalyzerStackConfigureRequest, _context: Any
    ) -> analyzer_pb2.AnalyzerStackConfigureResponse:
        """Record the stack and whether the run is a dry run; each resource names its stack again."""
        self._dry_run, self._stack = request.dry_run, request.stack
        self._contexts.clear()
        self._judges.clear()
        self._objects.clear()
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Analyze(self, request: analyzer_pb2.AnalyzeRequest, _context: Any) -> analyzer_pb2.AnalyzeResponse:
        """Evaluate the rules for one resource before it is created or changed."""
        judge, touched = self._judge(stack_of(request.urn))
        # A freeze blocks an apply at its first resource; a preview reports the freeze once, at the root of the stack.
        reported = touched if is_stack(request) or not self._dry_run else ()
        facts = tuple(facts_of(request))
        self._objects[request.urn] = tuple(fact for fact in facts if fact.source)
        violations = [item for fact in (*reported, *facts) for item in judge.violations(fact)]
        return analyzer_pb2.AnalyzeResponse(diagnostics=[_diagnostic(item, request.urn) for item in violations])

    def AnalyzeStack(self, request: analyzer_pb2.AnalyzeStackRequest, _context: Any) -> analyzer_pb2.AnalyzeResponse:
        """Evaluate the stack-wide rules for all objects of the stack, after the last resource."""
        if not request.resources:
            return analyzer_pb2.AnalyzeResponse()
        judge, _ = self._judge(stack_of(request.resources[0].urn))
        ordered = sorted(request.resources, key=lambda item: item.urn)  # The engine sends them in any order.
        objects = [(fact, item.urn) for item in ordered for fact in self._objects_of(item)]
        urns = {id(fact): urn for fact, urn in objects}
        violations = judge.stack_violations(fact for fact, _ in objects)
        return analyzer_pb2.AnalyzeResponse(diagnostics=[_diagnostic(item, urns[id(item.fact)]) for item in violations])

    def _objects_of(self, resource: analyzer_pb2.AnalyzerResource) -> tuple[Fact, ...]:
        """Return the objects of a resource; of its outputs if it only remains in the state, as in a targeted run."""
        if resource.urn not in self._objects:
            known = resource.type != OBJECT_SET
            self._objects[resource.urn] = tuple(fact for fact in facts_of(resource) if fact.source) if known else ()
        return self._objects[resource.urn]

    def Remediate(self, _request: analyzer_pb2.AnalyzeRequest, _context: Any) -> analyzer_pb2.RemediateResponse:
        """Change nothing: violations are fixed in the reviewed data."""
        return analyzer_pb2.RemediateResponse()

    def Cancel(self, _request: empty_pb2.Empty, _context: Any) -> empty_pb2.Empty:
        """Accept the request without action; all calls are too short to be cancelled."""
        return empty_pb2.Empty()

    def _context(self, stack: str) -> Context:
        if stack not in self._contexts:
            self._contexts[stack] = context_of(stack, self._now, dry_run=self._dry_run)
        return self._contexts[stack]

    def _judge(self, stack: str) -> tuple[Judge, tuple[Fact, ...]]:
        if stack not in self._judges:
            context = self._overrides.applied(self._context(stack))
            self._judges[stack] = Judge(self._rules, context), tuple(stack_facts(context))
        return self._judges[stack]


def _values(properties: struct_pb2.Struct) -> dict[str, Any]:
    values: dict[str, Any] = json_format.MessageToDict(properties)
    return values


def _diagnostic(violation: Violation, urn: str) -> analyzer_pb2.AnalyzeDiagnostic:
    return analyzer_pb2.AnalyzeDiagnostic(
        policyName=violation.rule.name,
        policyPackName=PACK,
        policyPackVersion=VERSION,
        description=violation.rule.description,
        message=str(violation),
        enforcementLevel=LEVELS[violation.level],
        urn=urn,
        severity=SEVERITIES[violation.rule.severity],
    )


def run() -> None:
    """Serve the rules until the engine stops the process; exit with the errors if extension policies are invalid."""
    try:
        now = settings.now()
    except SettingError as error:
        sys.exit(str(error))
    if errors := extensions.problem_lines():
        sys.exit("\n".join(errors))
    serve(now)


def serve(now: dt.datetime) -> None:
    """Serve the pack until the engine stops the process; the first line of standard output is the port."""
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
