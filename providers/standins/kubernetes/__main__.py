"""The provider's executable: ``pulumi-resource-kubernetes [flags] ENGINE_ADDRESS``."""

import sys

from providers.rpc.server import Engine, serve_provider
from providers.standins import about
from providers.standins.kubernetes.provider import KubernetesProvider


def main() -> None:
    """Serve the engine until it goes away."""
    if "--about" in sys.argv:
        sys.stdout.write(about.KUBERNETES)
        return
    engine = Engine.from_argv()
    serve_provider(KubernetesProvider(engine), engine)


if __name__ == "__main__":
    main()
