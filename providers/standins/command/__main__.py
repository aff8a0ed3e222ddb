"""The provider's executable: ``pulumi-resource-command [flags] ENGINE_ADDRESS``."""

import sys

from providers.rpc.server import Engine, serve_provider
from providers.standins import about
from providers.standins.command.provider import CommandProvider
from providers.standins.processes import Children


def main() -> None:
    """Serve the engine until it goes away."""
    if "--about" in sys.argv:
        sys.stdout.write(about.COMMAND)
        return
    engine = Engine.from_argv()
    serve_provider(CommandProvider(engine, Children()), engine)


if __name__ == "__main__":
    main()
