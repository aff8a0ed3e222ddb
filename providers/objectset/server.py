"""Entry point of ``pulumi-resource-jacquard``, which the engine starts."""

from __future__ import annotations

from providers.objectset.provider import ObjectSetProvider
from providers.rpc.server import Engine, serve_provider


def main() -> None:
    """Serve the provider until the engine is gone."""
    engine = Engine.from_argv()
    serve_provider(ObjectSetProvider(engine), engine)


if __name__ == "__main__":
    main()
