"""``jacquard impact``: what a change does to nodes, DPUs, control planes, networks and storage, before it is merged."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import arguments, data
from cli.console import Format, print_json, stdout
from cli.errors import ExitCode, Stop
from cli.views import impact as impact_view
from components.specs.environment import Environment
from components.specs.loader import environments, load_environment
from components.specs.problems import SpecError
from previews.alone import Alone
from previews.bases import Base, BaseError, base_at
from previews.compare import impact as compared
from previews.edits import edits
from previews.impact import Impact
from previews.rendered import rendered_by, rendered_here
from previews.sides import side
from toolchain import paths

BaseOption = Annotated[
    str, typer.Option("--base", metavar="REF", help="Branch, tag or commit to compare with, where it was left.")
]


def impact(
    chosen: arguments.Envs = None,
    *,
    base: BaseOption = "HEAD",
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Tell what a change does to nodes, tenants and the rest of a region, before it is merged.

    Compares the data as they are in the work tree with those of the last commit that it shares with --base: which
    nodes are replaced, come or go, how many are away at once, which spares and how long that takes, what else is
    touched, which edit did it, and what waits for a promotion. No engine and no cluster is asked. What nobody can tell
    is called unknown, never nothing.
    """
    try:
        with base_at(paths.environments(), paths.ROOT, base) as earlier:
            found = [_of(name, earlier) for name in data.chosen(chosen)]
    except BaseError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None
    if output is Format.JSON:
        print_json([one.model_dump(mode="json") for one in found])
        return
    for one in found:
        for line in impact_view.lines(one):
            stdout().print(line, soft_wrap=True)


def _of(name: str, base: Base) -> Impact:
    head = data.comparable(name)
    if name not in environments(base.environments):
        msg = f"{name} is new: {base.commit} has no such environment, so that nothing of it can run yet"
        raise Stop(msg)
    before = _before(name, base)
    objects = rendered_by(base.library, base.environments, name) if base.library else None
    sides = (side(before, objects), side(head, rendered_here(head))) if objects else (side(before), side(head))
    return compared(
        *sides,
        edits(base.environments, paths.environments(), name),
        names=(base.commit, base.head),
        alone=None if base.library else Alone(sides[0], base.environments),
        undecided=base.library is not None and objects is None,
    )


def _before(name: str, base: Base) -> Environment:
    try:
        return load_environment(name, base.environments)
    except SpecError as error:
        msg = f"this version of Jacquard does not read the data of {base.commit}, so nothing can be compared\n{error}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
