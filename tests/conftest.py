"""Shared configuration of all tests: reproducible Hypothesis examples, and programs that run without an engine."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pulumi
import pytest
from hypothesis import settings
from pulumi.runtime import mocks, rpc

settings.register_profile("reproducible", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """Use random examples only in nightly tests, so that unrelated changes do not fail because of a new example."""
    settings.load_profile("random" if config.option.markexpr == "nightly" else "reproducible")


def pytest_collection_finish() -> None:
    """Exclude imported objects from garbage collection, and collect less often.

    A fifth of the processor time of a property test was spent on traversals of modules and models, which are not
    garbage.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@dataclass(frozen=True, kw_only=True)
class Registered:
    """A resource as registered at the engine."""

    type: str
    name: str
    parent: str
    """Name of the parent; empty for resources of the stack."""
    inputs: dict[str, Any]
    provider: str
    """``package/name`` of an explicit provider; otherwise empty."""
    protect: bool
    retain: bool
    deletion_timeout: str
    """Custom timeout of a deletion; empty for the provider's."""
    dependencies: frozenset[str]
    """Names of the dependencies of the resource, explicit or implied by its inputs."""
    callers: list[str]
    """URIs of the files of the recorded call stack, innermost first."""


Run = Callable[..., list[Registered]]


@pytest.fixture(scope="session")
def run() -> Run:
    """Return a function that runs a program with mocks and returns its resources in order of registration.

    The resources are returned so that tests contain their assertions.
    """

    class Echo(mocks.Mocks):
        def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
            return f"{args.name}-id", args.inputs

        def call(self, args: mocks.MockCallArgs) -> dict[str, Any]:
            raise NotImplementedError(args.token)

    class Recorder(mocks.MockMonitor):
        def __init__(self) -> None:
            super().__init__(Echo())
            self.registered: list[Registered] = []

        def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the protocol defines the name
            if request.type != "pulumi:pulumi:Stack":
                self.registered.append(_registered(request, rpc.deserialize_properties(request.object)))
            return super().RegisterResource(request)

    def run_program(program: Callable[[], None], *, stack: str = "laptop", preview: bool = False) -> list[Registered]:
        recorder = Recorder()
        pulumi.runtime.set_mocks(Echo(), project="jacquard", stack=stack, preview=preview, monitor=recorder)
        pulumi.runtime.test(program)()
        return recorder.registered

    return run_program


def _registered(request: Any, inputs: dict[str, Any]) -> Registered:
    provider = request.provider.split("::")
    return Registered(
        type=request.type,
        name=request.name,
        parent=_name(request.parent),
        inputs=inputs,
        provider=f"{provider[2].rsplit(':', 1)[-1]}/{provider[3]}" if len(provider) > 3 else "",
        protect=request.protect,
        retain=request.retainOnDelete,
        deletion_timeout=request.customTimeouts.delete,
        dependencies=frozenset(_name(urn) for urn in request.dependencies),
        callers=[frame.pc.uri for frame in request.stackTrace.frames],
    )


def _name(urn: str) -> str:
    return "" if "::pulumi:pulumi:Stack::" in urn else urn.rsplit("::", 1)[-1]
