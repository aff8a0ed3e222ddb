"""The reference of all verbs, made from their own help."""

from __future__ import annotations

import typer
from typer.cli import get_docs_for_click

from jacquard.cli.panels import PANELS, Verb

FILE = "docs/reference/commands.md"
_HEAD = """<!-- written by jacquard schema --write from the help of each verb; do not edit -->
# Commands

What each verb does and takes. Exit codes: 0 ok, 1 failed, 2 wrong usage or data, 3 waiting for a gate, 4 refused by
a policy, 5 [held](../changes/destructive-changes.md) for a word, 6 drift, 7 could not look, 130 interrupted.
`jacquard --install-completion` makes the shell complete verbs, options, environments and pools. The same as a manual
page: `man docs/reference/jacquard.1`.
"""


def text() -> str:
    """Return the page in Markdown."""
    parts = [_HEAD]
    for title, verbs in PANELS.items():
        parts += [f"## {title}\n", *map(_verb, verbs)]
    return "\n".join(parts).rstrip() + "\n"


def _verb(verb: Verb) -> str:
    command = verb.load()
    command.epilog = None
    context = typer.Context(command, info_name=verb.name)
    told = get_docs_for_click(obj=command, ctx=context, indent=2, name=verb.name, call_prefix="jacquard").rstrip()
    examples = "\n".join(f"$ {example}" for example in verb.examples)
    return f"{told}\n\n**Examples**:\n\n```console\n{examples}\n```\n"
