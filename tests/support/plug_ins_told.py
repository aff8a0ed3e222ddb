"""Says by whose plug-ins end-to-end tests ran, so that nobody takes a pass here for one there."""

from __future__ import annotations

from jacquard.lab.toolchain.engine import Engine


def by_whose(engine: Engine) -> str:
    """Return the line that ends a run of end-to-end tests."""
    if engine.vendor:
        return f"plug-ins: the vendor's, of {engine.vendor} {engine.version}"
    return (
        f"plug-ins: the stand-ins; nothing ran with the vendor's ({engine.why}). Where they are installed, "
        "JACQUARD_TOOLCHAIN=vendor runs the same tests with them"
    )
