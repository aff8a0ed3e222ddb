"""Reference page of all commands, generated from their help texts."""

import typer
from typer.cli import get_docs_for_click

from jacquard.cli.global_options import remove_from
from jacquard.cli.panels import PANELS
from jacquard.cli.verb import Verb

FILE = "docs/reference/commands.md"
_HEAD = """<!-- written by jacquard schema --write from the help of each verb; do not edit -->
# Commands

All commands with their arguments and options. Exit codes: 0 ok, 1 failed, 2 wrong usage or data, 3 waiting for a
gate, 4 refused by a policy, 5 [confirmation required](../changes/destructive-changes.md), 6 drift, 7 cluster
unreachable, 70 bug in Jacquard, 130 interrupted ([errors](errors.md)). `jacquard --install-completion` enables shell
completion of verbs, options, environments and pools.

## Options of all commands

These options can be written before or after the verb: `jacquard --quiet up edge-1`, `jacquard up edge-1 --quiet`.

| option | effect |
|---|---|
| `--debug` | print the trace of a failure, and durations, on standard error |
| `--quiet`, `-q` | print no progress and no notes; results and errors remain |
| `--verbose`, `-v` | print each program that is run on standard error |
| `--color auto` | colours on a terminal, unless the environment variable `NO_COLOR` is set; the default |
| `--color always` | colours also in pipes and files |
| `--color never` | no colours |
"""


def text() -> str:
    """Return the page as Markdown."""
    parts = [_HEAD]
    for title, verbs in PANELS.items():
        parts += [f"## {title}\n", *map(_verb, verbs)]
    return "\n".join(parts).rstrip() + "\n"


def _verb(verb: Verb) -> str:
    command = verb.load()
    command.epilog = None
    remove_from(command)
    context = typer.Context(command, info_name=verb.name)
    reference = get_docs_for_click(obj=command, ctx=context, indent=2, name=verb.name, call_prefix="jacquard").rstrip()
    examples = "\n".join(f"$ {example}" for example in verb.examples)
    return f"{reference}\n\n**Examples**:\n\n```console\n{examples}\n```\n"
