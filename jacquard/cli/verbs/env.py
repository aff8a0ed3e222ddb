"""``jacquard env``: environment variables for plain ``pulumi`` and ``kubectl`` in a shell."""

import shlex
import sys
from collections.abc import Mapping

from jacquard.cli import arguments, data
from jacquard.cli.console import Format, print_json
from jacquard.harness import environment as machine


def env(environment: arguments.Env, output: arguments.FormatOption = Format.TEXT) -> None:
    """Print environment variables for plain pulumi and kubectl.

    Use it as `eval "$(jacquard env <environment>)"`. `~/.pulumi` and `~/.kube` are not changed: local
    state, plugins and kubeconfigs are stored in the project's folder of Jacquard's cache.
    """
    state = data.load(environment).region.state
    variables = machine.engine(environment, backend_url=state.backend if state else None)
    if output is Format.JSON:
        print_json(variables)
    else:
        sys.stdout.write(exports(variables))


def exports(variables: Mapping[str, str]) -> str:
    """Return shell commands that set ``variables``, with quoted values."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
