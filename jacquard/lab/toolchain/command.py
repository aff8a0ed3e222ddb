"""The command line of ``python3 -m jacquard.lab.toolchain``."""

import argparse
import dataclasses
import json
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import NoReturn

from jacquard.lab.toolchain import doctor, setup
from jacquard.lab.toolchain.doctor import Item, State
from jacquard.lab.toolchain.progress import Progress
from jacquard.lab.toolchain.repository_families import LINTERS, NIGHTLY
from jacquard.machine import settings
from jacquard.machine.errors import SettingError, ToolchainError, explained

_USAGE = 2
_INTERRUPTED = 130
_DESCRIPTION = """\
Set up this clone: virtual environment, pinned binaries, plugins. Requires Python >= 3.11, Go >= 1.26, git and make.
Finished parts are kept, an interrupted run continues where it stopped, and your own folders (~/.pulumi, ~/.kube,
~/.kwok) are not changed.
"""
_VARIABLES = f"""\
environment variables:
  JACQUARD_TOOLCHAIN   auto: the vendor's pulumi if installed, new enough and complete, otherwise build it (default)
                       vendor: the vendor's pulumi or an error; build: always build it
  JACQUARD_CACHE       folder that all clones share; default "jacquard" in the user's cache folder
  JACQUARD_HOME        folder of this clone's regions and state; default a folder in the cache
  JACQUARD_CLUSTER     kwok (default), kind or context:<name>; kind needs no Kubernetes binaries
  JACQUARD_MONITORING  on: also Prometheus and Alertmanager for the local region, about 4 minutes to build; off
  JACQUARD_SPEED       divisor of the delays of simulated hardware; default {settings.DEFAULT_SPEED}
  JACQUARD_BINARIES    folder whose binaries take precedence over the built ones (for work on this repository)
"""
_VERBS = {
    "setup": "set up everything that a region needs (default)",
    "controllers": "the same, with the controllers of add-ons that a region simulates otherwise",
    "python": "create the virtual environment only: enough for check, impact, render, allocate, promote and show",
    "linters": "build the linters that are not on a package index",
    "nightly": "build the programs that only nightly tests run",
    "status": "list the tools in use, their paths and what is missing; exit code 1 if something is missing",
    "clean": "remove everything that setup created in this clone; keep regions and their state",
}


def main() -> int:
    """Run the command line of this process; termination signals also end its children."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    return run(sys.argv[1:])


def stop(number: int, _frame: FrameType | None) -> NoReturn:
    """Exit like after Ctrl-C, which also ends the children, with the exit code of the signal."""
    sys.exit(128 + number)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code: 0 success, 1 failure, 2 usage error, 130 interrupted."""
    options = _parser().parse_args(arguments)
    progress = Progress()
    try:
        return _verb(options, progress)
    except ToolchainError as error:
        progress.end_line()
        print(error, file=sys.stderr)
        return _USAGE if isinstance(error, SettingError) else 1
    except OSError as error:
        progress.end_line()
        print(explained(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        progress.end_line()
        print("interrupted; run the same command again to continue", file=sys.stderr)
        return _INTERRUPTED


def _verb(options: argparse.Namespace, progress: Progress) -> int:
    if options.verb == "status":
        items = doctor.report()
        print(
            json.dumps([dataclasses.asdict(item) for item in items], indent=2)
            if options.format == "json"
            else _table(items)
        )
        return 0 if all(item.state is State.OK for item in items) else 1
    if options.verb == "clean":
        setup.clean(progress, shared=options.shared)
    else:
        makers: dict[str, Callable[[Progress], None]] = {
            "controllers": partial(setup.set_up, controllers=True),
            "python": setup.set_up_python,
            "linters": partial(setup.set_up_families, LINTERS),
            "nightly": partial(setup.set_up_families, NIGHTLY),
        }
        makers.get(options.verb, setup.set_up)(progress)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m jacquard.lab.toolchain",
        description=_DESCRIPTION,
        epilog=_VARIABLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for verb, purpose in _VERBS.items():
        verbs.add_parser(verb, help=purpose, description=purpose)
    verbs.choices["status"].add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    verbs.choices["clean"].add_argument(
        "--shared", action="store_true", help="also remove the binaries that all clones share"
    )
    return parser


def _table(items: Sequence[Item]) -> str:
    width = max(len(item.name) for item in items)
    lines = []
    for item in items:
        text = "  ".join(part for part in (item.used, item.where) if part)
        lines.append(f"{item.state:<8} {item.name:<{width}}  {text}".rstrip())
        if item.remedy:
            lines.append(f"{'':<8} {'':<{width}}  {item.remedy}")
    return "\n".join(lines)
