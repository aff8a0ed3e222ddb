"""``jacquard render``: rendered objects of an environment as files, or the rendered differences of a change."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from jacquard.cli import arguments, data, outputs
from jacquard.cli.comparisons import base_comparison
from jacquard.cli.console import ReviewFormat, plural, print_json, stdout, write_text
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views import render_tree
from jacquard.cli.views.changes import rendered_diff as view
from jacquard.previews.rendered_diff import rendered_diff


def render(
    chosen: arguments.Envs = None,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Output folder for the files of one ENV; created if missing."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base", metavar="REF", help="Show the differences from the merge base with this branch, tag or commit."
        ),
    ] = None,
    output: arguments.ReviewFormatOption = ReviewFormat.TEXT,
) -> None:
    """Write every object as a YAML file, or show the rendered differences of a change.

    Files are named CLUSTER/NAMESPACE/KIND-NAME.yaml, with _cluster for cluster-scoped objects, and are reproducible to
    the byte. Files of removed objects are deleted; a folder with other files is rejected.

    With --base, writes nothing and compares the objects of the work tree with those of the merge base with REF, field
    by field. Identical changes of several objects are shown once. Needs no engine and no cluster.
    """
    match out, base:
        case Path(), None:
            _write(chosen or [], out, output)
        case None, str():
            _compare(chosen, base, output)
        case _:
            msg = "write either --out DIR, to write objects to files, or --base REF, to compare them"
            raise Stop(msg, ExitCode.BAD_DATA)


def _write(chosen: list[str], out: Path, output: ReviewFormat) -> None:
    if output is ReviewFormat.MARKDOWN:
        msg = "--format: markdown requires --base; write text or json with --out"
        raise Stop(msg, ExitCode.BAD_DATA)
    if len(chosen) != 1:
        named = str(len(chosen)) if chosen else "none"
        msg = f"--out: requires exactly one environment (got {named}); write: jacquard render ENV --out {out}"
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
    text = f"{environment}: {plural(len(bodies), 'object')} in {out}, {', '.join(changes) or 'no changes'}"
    stdout().print(Text(text), soft_wrap=True)


def _compare(chosen: list[str] | None, base: str, output: ReviewFormat) -> None:
    names = data.chosen(chosen)
    with base_comparison.base_of(base) as earlier:
        names = names if chosen else base_comparison.without_new(names, earlier)
        diffs = [
            rendered_diff(item.base, item.head, item.impact, by_head=item.undecided)
            for item in base_comparison.compare(names, earlier)
        ]
    if output is ReviewFormat.JSON:
        print_json([diff.model_dump(mode="json") for diff in diffs])
    elif output is ReviewFormat.MARKDOWN:
        write_text(view.comment(diffs))
    else:
        for line in (line for diff in diffs for line in view.lines(diff)):
            stdout().print(line, soft_wrap=True)
