"""``jacquard render``: what an environment comes to, as files, or as what a change makes of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from jacquard.cli import arguments, base_comparison, data, outputs
from jacquard.cli.console import ReviewFormat, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views import render_tree
from jacquard.cli.views.changes import rendered_diff as view
from jacquard.previews.rendered_diff import rendered_diff


def render(
    chosen: arguments.Envs = None,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the files of one ENV; made when missing.")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="REF", help="Tell what changed since this branch, tag or commit was left."),
    ] = None,
    output: arguments.ReviewFormatOption = ReviewFormat.TEXT,
) -> None:
    """Write every object as YAML, one file each; or tell which objects a change renders otherwise.

    Files are CLUSTER/NAMESPACE/KIND-NAME.yaml, with _cluster for what has no namespace, and the same to the byte each
    time. Files of objects that are gone are removed; a folder that holds anything else is refused.

    With --base it writes nothing, and compares the objects of the work tree with those of the last commit that it
    shares with REF: field by field, the same change of many objects once. No engine and no cluster is asked.
    """
    match out, base:
        case Path(), None:
            _write(chosen or [], out, output)
        case None, str():
            _compare(chosen, base, output)
        case _:
            msg = (
                "say --out DIR, where objects are written, or --base REF, which they are compared with: one of the two"
            )
            raise Stop(msg, ExitCode.BAD_DATA)


def _write(chosen: list[str], out: Path, output: ReviewFormat) -> None:
    if output is ReviewFormat.MARKDOWN:
        msg = "--format: markdown is what --base answers; write text or json beside --out"
        raise Stop(msg, ExitCode.BAD_DATA)
    if len(chosen) != 1:
        named = f"{len(chosen)} are named" if chosen else "none is named"
        msg = f"--out: holds the objects of one environment, and {named}; write: jacquard render ENV --out {out}"
        raise Stop(msg, ExitCode.BAD_DATA)
    [environment] = chosen
    outputs.refuse_data("--out", out)
    spec = data.checked(environment)
    bodies = [item for piece in slices(spec) for item in objects(manifests(spec, piece))]
    outcome = render_tree.FOLDER.write(out, environment, render_tree.files(bodies))
    if output is ReviewFormat.JSON:
        print_json({"environment": environment, "folder": str(out), **outcome.to_json()})
        return
    changes = [f"{len(names)} {word}" for word, names in outcome.to_json().items() if names and word != "unchanged"]
    text = f"{environment}: {plural(len(bodies), 'object')} in {out}, {', '.join(changes) or 'nothing changed'}"
    stdout().print(Text(text), soft_wrap=True)


def _compare(chosen: list[str] | None, base: str, output: ReviewFormat) -> None:
    names = data.chosen(chosen)
    with base_comparison.base_of(base) as earlier:
        names = names if chosen else base_comparison.without_new(names, earlier)
        found = [
            rendered_diff(one.base, one.head, one.impact, by_head=one.undecided)
            for one in base_comparison.compare(names, earlier)
        ]
    if output is ReviewFormat.JSON:
        print_json([one.model_dump(mode="json") for one in found])
    elif output is ReviewFormat.MARKDOWN:
        sys.stdout.write(view.comment(found))
    else:
        for line in (line for one in found for line in view.lines(one)):
            stdout().print(line, soft_wrap=True)
