"""Executable of the provider: ``pulumi-resource-command [flags] ENGINE_ADDRESS``."""

import sys

from jacquard.lab.standins import about
from jacquard.lab.standins.command.provider import CommandProvider
from jacquard.lab.standins.processes import Children
from jacquard.providers.rpc.server import Engine, serve_provider


def main() -> None:
    """Serve the engine until it ends."""
    if "--about" in sys.argv:
        sys.stdout.write(about.COMMAND)
        return
    engine = Engine.from_argv()
    serve_provider(CommandProvider(engine, Children()), engine)


if __name__ == "__main__":
    main()
