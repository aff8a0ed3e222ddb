"""``jacquard impact``: what a change does to nodes, DPUs, control planes, networks and storage, before it is merged."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import typer

from cli import arguments, data
from cli.console import print_json, stdout
from cli.errors import ExitCode, Stop
from cli.views import impact as impact_view
from cli.views.impact_comment import comment
from components.plan.effects.effect import Effect
from components.specs.environment import Environment
from components.specs.loader import environments, load_environment
from components.specs.problems import SpecError
from previews.alone import Alone
from previews.bases import Base, BaseError, base_at
from previews.compare import impact as compared
from previews.edits import Edit, edits
from previews.impact import Impact, Shared
from previews.rendered import rendered_by, rendered_here
from previews.sides import side
from stacks.own import joined
from toolchain import paths, settings
from toolchain.pins import PIN_FILE


class ImpactFormat(StrEnum):
    """How ``impact`` answers."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    """The text of a comment of a pull request."""


BaseOption = Annotated[
    str, typer.Option("--base", metavar="REF", help="Branch, tag or commit to compare with, where it was left.")
]


def impact(
    chosen: arguments.Envs = None,
    *,
    base: BaseOption = "HEAD",
    output: Annotated[ImpactFormat, typer.Option("--format", help="How to answer.")] = ImpactFormat.TEXT,
) -> None:
    """Tell what a change does to nodes, tenants and the rest of a region, before it is merged.

    Compares the data as they are in the work tree with those of the last commit that it shares with --base: which
    nodes are replaced, come or go, how many are away at once, which spares and how long that takes, what else is
    touched, which edit did it, and what waits for a promotion. No engine and no cluster is asked. What nobody can tell
    is called unknown, never nothing.
    """
    try:
        with base_at(paths.environments(), paths.ROOT, base, PIN_FILE) as earlier:
            names = data.chosen(chosen)
            edited = {name: edits(earlier.environments, paths.environments(), name) for name in names}
            found = [_of(name, earlier, edited[name]) for name in names]
            shared = _elsewhere(edited, earlier)
    except BaseError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None
    found = [one.model_copy(update={"shared": shared}) for one in found]
    if output is ImpactFormat.JSON:
        print_json([one.model_dump(mode="json") for one in found])
        return
    if output is ImpactFormat.MARKDOWN:
        sys.stdout.write(comment(found))
        return
    for one in found:
        for line in impact_view.lines(one):
            stdout().print(line, soft_wrap=True)


def _of(name: str, base: Base, edited: Sequence[Edit]) -> Impact:
    head = data.comparable(name)
    if name not in environments(base.environments):
        msg = f"{name} is new: {base.commit} has no such environment, so that nothing of it can run yet"
        raise Stop(msg)
    before = _before(name, base)
    asked = base.code is not None and not base.pinned_otherwise
    objects = rendered_by(base, name) if asked else None
    sides = (side(before, objects), side(head, rendered_here(head))) if objects else (side(before), side(head))
    return compared(
        *sides,
        edited,
        names=(base.commit, base.head),
        now=settings.now(),
        alone=None if asked else Alone(sides[0], base.environments),
        undecided=base.pinned_otherwise or (asked and objects is None),
    )


def _elsewhere(edited: Mapping[str, Sequence[Edit]], base: Base) -> tuple[Shared, ...]:
    """Return what happens to other environments, which read the same catalogue; nothing where it is as it was."""
    if not any(edit.file.startswith("../") for found in edited.values() for edit in found):
        return ()
    others = [name for name in data.names() if name not in edited and name in environments(base.environments)]
    return tuple(_shared(name, base) for name in others)


def _shared(name: str, base: Base) -> Shared:
    try:
        found = _of(name, base, ())  # who did it is told by the impact of that environment
    except (SpecError, Stop):
        return Shared(environment=name, effect=Effect.UNKNOWN, nodes=None)
    return Shared(environment=name, effect=found.effect, nodes=found.gone)


def _before(name: str, base: Base) -> Environment:
    try:
        return joined(load_environment(name, base.environments))
    except SpecError as error:
        msg = f"this version of Jacquard does not read the data of {base.commit}, so nothing can be compared\n{error}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
