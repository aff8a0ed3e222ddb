"""What all tests share: examples that are drawn alike each time, and programs that run without an engine."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pulumi
import pytest
from hypothesis import settings
from pulumi.runtime import mocks, rpc

settings.register_profile("alike", deadline=None, derandomize=True)
settings.register_profile("anew", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """Draw anew for nightly proofs only: no change is refused for what a new example found in another's code."""
    settings.load_profile("anew" if config.option.markexpr == "nightly" else "alike")


def pytest_collection_finish() -> None:
    """Keep the collector of cycles away from what was imported, which stays, and let it come less often.

    A fifth of the processor time of a property test went into walks through modules and models that are no garbage.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@dataclass(frozen=True, kw_only=True)
class Registered:
    """One resource as the engine would have been asked for it."""

    type: str
    name: str
    parent: str
    """Name of the parent; empty for the stack's own resources."""
    inputs: dict[str, Any]
    provider: str
    """``package/name`` of an explicit provider, else empty."""
    protect: bool
    retain: bool
    dependencies: frozenset[str]
    """Names of the resources it waits for, explicit or implied by its inputs."""


Run = Callable[..., list[Registered]]


@pytest.fixture(scope="session")
def run() -> Run:
    """Return a function that runs a program under mocks and returns its resources in order of registration.

    What they register is returned, so that tests assert in their own body.
    """

    class Echo(mocks.Mocks):
        def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
            return f"{args.name}-id", args.inputs

        def call(self, args: mocks.MockCallArgs) -> dict[str, Any]:
            raise NotImplementedError(args.token)

    class Recorder(mocks.MockMonitor):
        def __init__(self) -> None:
            super().__init__(Echo())
            self.seen: list[Registered] = []

        def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - named by the protocol
            if request.type != "pulumi:pulumi:Stack":
                self.seen.append(_registered(request, rpc.deserialize_properties(request.object)))
            return super().RegisterResource(request)

    def run_program(program: Callable[[], None], *, stack: str = "laptop", preview: bool = False) -> list[Registered]:
        recorder = Recorder()
        pulumi.runtime.set_mocks(Echo(), project="jacquard", stack=stack, preview=preview, monitor=recorder)
        pulumi.runtime.test(program)()
        return recorder.seen

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
        dependencies=frozenset(_name(urn) for urn in request.dependencies),
    )


def _name(urn: str) -> str:
    return "" if "::pulumi:pulumi:Stack::" in urn else urn.rsplit("::", 1)[-1]
