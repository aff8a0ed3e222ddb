"""The command line of ``python3 -m jacquard.lab.toolchain``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from jacquard.lab.toolchain import doctor, setup
from jacquard.lab.toolchain.doctor import Item, State
from jacquard.lab.toolchain.progress import Progress
from jacquard.machine.errors import SettingError, ToolchainError, explained

_USAGE = 2
_INTERRUPTED = 130
_DESCRIPTION = """\
Make this clone ready: virtual environment, pinned binaries, plugins. Needs Python >= 3.11, Go >= 1.26, git and make.
What is there already is left alone, an interrupted run goes on where it was, and nothing of yours (~/.pulumi, ~/.kube,
~/.kwok) is touched.
"""
_VARIABLES = """\
environment variables:
  JACQUARD_TOOLCHAIN   auto: the vendor's pulumi if installed, new enough and complete, else build one (default)
                       vendor: the vendor's or an error; build: never the vendor's
  JACQUARD_CACHE       what all clones share; default is "jacquard" in the user's cache folder
  JACQUARD_HOME        what this clone runs; default is a folder in the cache
  JACQUARD_CLUSTER     kwok (default), kind or context:<name>; kind needs no Kubernetes binaries
  JACQUARD_SPEED       factor on the delays of simulated hardware (default 1; 10 is ten times faster)
  JACQUARD_BINARIES    a folder whose binaries are used before the built ones (for work on this repository)
"""
_VERBS = {
    "setup": "make everything ready (default)",
    "python": "make the virtual environment alone: enough for check, impact, render, allocate, promote and show",
    "linters": "build the linters that no package index has",
    "status": "say what is used from where and what is missing; exit code 1 if anything is",
    "clean": "remove what set-up made in this clone; regions and their state stay",
}


def main() -> int:
    """Run the command line of this process; a signal to end ends its children as well."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    return run(sys.argv[1:])


def stop(number: int, _frame: FrameType | None) -> NoReturn:
    """End as by Ctrl-C, so that children are ended too, with the signal's own exit code."""
    sys.exit(128 + number)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code: 0 done, 1 failed, 2 usage, 130 interrupted."""
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
        print("interrupted; the same command goes on where this one was", file=sys.stderr)
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
        makers = {"python": setup.set_up_python, "linters": setup.set_up_linters}
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
    verbs.choices["clean"].add_argument("--shared", action="store_true", help="also what all clones share: binaries")
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
