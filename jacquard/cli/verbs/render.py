"""``jacquard render``: rendered objects of an environment as files, or the rendered differences of a change."""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.specs.base import RELATIVE_PATH
from components.specs.environment import Environment
from components.specs.reading.problems import shown
from jacquard.cli import arguments, data, outputs
from jacquard.cli.comparisons import base_comparison
from jacquard.cli.console import ReviewFormat, plural, print_json, stdout, write_text
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views import render_tree
from jacquard.cli.views.changes import rendered_diff as view
from jacquard.previews.rendered_diff import rendered_diff

if TYPE_CHECKING:
    from jacquard.delivery.layout import Controller, Layout


class GitOps(StrEnum):
    """Controllers for which ``render`` writes a layout."""

    FLUX = "flux"
    ARGO_CD = "argo-cd"


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
    gitops: Annotated[
        GitOps | None, typer.Option("--gitops", help="Write the layout of this controller to DIR instead.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="SOURCE",
            help="Source of the controller: KIND/NAME of Flux (default GitRepository/flux-system), URL of Argo CD.",
        ),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option("--path", metavar="PATH", help="Path of DIR in the repository. Default: DIR, if relative."),
    ] = None,
    output: arguments.ReviewFormatOption = ReviewFormat.TEXT,
) -> None:
    """Write every object as a YAML file, or show the rendered differences of a change.

    Files are named CLUSTER/NAMESPACE/KIND-NAME.yaml, with _cluster for cluster-scoped objects, and are reproducible to
    the byte. Files of removed objects are deleted; a folder with other files is rejected.

    With --gitops, writes the objects by slice, with Kustomizations of Flux or Applications of Argo CD that apply them
    in order. Objects that 'jacquard up' protects are marked, so that the controller does not delete them.

    With --base, writes nothing and compares the objects of the work tree with those of the merge base with REF, field
    by field. Identical changes of several objects are shown once. Needs no engine and no cluster.
    """
    if gitops is None and (source or path):
        msg = f"{'--source' if source else '--path'}: requires --gitops; write --gitops flux or --gitops argo-cd"
        raise Stop(msg, ExitCode.BAD_DATA)
    if gitops is not None and (base is not None or out is None):
        msg = f"--gitops: requires --out DIR, without --base; write: jacquard render ENV --out DIR --gitops {gitops}"
        raise Stop(msg, ExitCode.BAD_DATA)
    match out, base:
        case Path(), None:
            delivered = None if gitops is None else _Delivery(gitops, source, path, out)
            _write(chosen or [], out, output, delivered)
        case None, str():
            _compare(chosen, base, output)
        case _:
            msg = "write either --out DIR, to write objects to files, or --base REF, to compare them"
            raise Stop(msg, ExitCode.BAD_DATA)


class _Delivery:
    """Checked options of a layout."""

    def __init__(self, gitops: GitOps, source: str | None, path: str | None, out: Path) -> None:
        from jacquard.delivery import argo_cd, flux  # noqa: PLC0415 - loads clients of clusters for one option

        controllers: Mapping[GitOps, Controller] = {GitOps.FLUX: flux, GitOps.ARGO_CD: argo_cd}
        self._controller = controllers[gitops]
        self._source = source or self._controller.DEFAULT_SOURCE
        self._path = (path or out.as_posix()).removeprefix("./")
        problems = []
        if problem := self._controller.source_problem(self._source):
            problems.append(f"--source: {problem}")
        if self._path != "." and not re.fullmatch(RELATIVE_PATH, self._path):
            text = f"must be the path of the folder in the repository, relative to its root (got {shown(self._path)})"
            problems.append(f"--path: {text}; write such as --path regions/edge-1, or --path . for the root")
        if problems:
            raise Stop("\n".join(problems), ExitCode.BAD_DATA)

    def files(self, spec: Environment) -> tuple[dict[str, str], "Layout"]:
        """Return the text of each file by path, and the layout."""
        from jacquard.delivery.layout import layout  # noqa: PLC0415 - as above

        parts, texts = layout(spec), dict[str, str]()
        for part in parts.parts:
            inner = render_tree.files(self._controller.marked(part.objects))
            texts |= {f"{part.path}/{name.partition('/')[2]}": text for name, text in inner.items()}
        for folder, item in self._controller.delivery(parts, self._source, self._path):
            texts |= {f"{folder}/{name.rpartition('/')[2]}": text for name, text in render_tree.files([item]).items()}
        return texts, parts


def _write(chosen: list[str], out: Path, output: ReviewFormat, delivered: _Delivery | None) -> None:
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
    omitted: Mapping[str, int] = {}
    if delivered is None:
        texts = render_tree.files(item for piece in slices(spec) for item in objects(manifests(spec, piece)))
    else:
        texts, parts = delivered.files(spec)
        omitted = parts.omitted
    outcome = render_tree.FOLDER.write(out, environment, texts)
    if output is ReviewFormat.JSON:
        left = {} if delivered is None else {"omitted": omitted}
        print_json({"environment": environment, "folder": str(out), **outcome.to_json(), **left})
        return
    changes = [f"{len(names)} {word}" for word, names in outcome.to_json().items() if names and word != "unchanged"]
    text = f"{environment}: {plural(len(texts), 'object')} in {out}, {', '.join(changes) or 'no changes'}"
    stdout().print(Text(text), soft_wrap=True)
    if omitted:
        kinds = ", ".join(f"{count} {kind}" for kind, count in omitted.items())
        stdout().print(Text(f"omitted, because only 'jacquard up' patches objects: {kinds}"), soft_wrap=True)


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
