"""Executable of the provider: ``pulumi-resource-kubernetes [flags] ENGINE_ADDRESS``."""

import sys

from jacquard.lab.standins import about
from jacquard.lab.standins.kubernetes.provider import KubernetesProvider
from jacquard.providers.rpc.server import Engine, serve_provider


def main() -> None:
    """Serve the engine until it ends."""
    if "--about" in sys.argv:
        sys.stdout.write(about.KUBERNETES)
        return
    engine = Engine.from_argv()
    serve_provider(KubernetesProvider(engine), engine)


if __name__ == "__main__":
    main()
