"""Executable of the language host: ``pulumi-language-python [flags] ENGINE_ADDRESS``."""

import sys
from pathlib import Path

from jacquard.lab.standins import about
from jacquard.lab.standins.language_host.server import LanguageHost
from jacquard.lab.standins.processes import Children
from jacquard.providers.rpc.server import serve
from jacquard.providers.rpc.stubs import language_pb2_grpc


def main() -> None:
    """Serve the engine at the address in the last argument until it ends."""
    if "--about" in sys.argv:
        sys.stdout.write(about.LANGUAGE_HOST)
        return
    host = LanguageHost(sys.argv[-1], Path(sys.argv[0]), Children())
    serve(lambda server: language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server), cancel=host.cancel)


if __name__ == "__main__":
    main()
