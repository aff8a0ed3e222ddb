"""Entry point of ``pulumi-resource-jacquard``, which the engine starts."""

import os

from jacquard.providers.objectset.explaining import TAKE_FIELDS_FROM
from jacquard.providers.objectset.provider import ObjectSetProvider
from jacquard.providers.rpc.server import Engine, serve_provider


def main() -> None:
    """Serve the provider until the engine exits."""
    engine = Engine.from_argv()
    taking = (name.strip() for name in os.environ.get(TAKE_FIELDS_FROM, "").split(","))
    serve_provider(ObjectSetProvider(engine, filter(None, taking)), engine)


if __name__ == "__main__":
    main()
