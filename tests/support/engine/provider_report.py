"""Reports which provider plug-ins end-to-end tests ran with: the vendor's, or the stand-ins."""

from __future__ import annotations

from jacquard.lab.toolchain.engine import Engine


def provider_line(engine: Engine) -> str:
    """Return the last line of the summary of end-to-end tests."""
    if engine.vendor:
        return f"plug-ins: the vendor's, of {engine.vendor} {engine.version}"
    return (
        f"plug-ins: the stand-ins; nothing ran with the vendor's ({engine.why}). Where they are installed, "
        "JACQUARD_TOOLCHAIN=vendor runs the same tests with them"
    )
