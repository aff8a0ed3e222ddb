"""Refresh of stacks before their plan: refused combinations of options, and the objects that the refresh found changed.

The engine reads the live objects in the preview and again in the apply (``--refresh`` of both). The state is therefore
written only after the confirmation. A separate `pulumi refresh` would write it before: the values of the last apply
would be lost, and with them the check that an object is replaced although its declaration did not change.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from components.specs.reading.problems import listed
from jacquard.cli.console import plural
from jacquard.cli.errors import ExitCode, Stop
from jacquard.engine.driver import Run
from jacquard.previews.engine_preview import REFRESH
from jacquard.previews.objects import Declared, object_changes
from jacquard.previews.preview import ObjectChange, Operation
from jacquard.previews.secrets import Secrets

_MOST_NAMED = 10
"""Maximum number of objects listed in a note."""


def options(*, refresh: bool) -> tuple[str, ...]:
    """Return the options of `pulumi preview` and `pulumi up` that refresh the state first."""
    return (REFRESH,) if refresh else ()


def verb(*, refresh: bool) -> str:
    """Return the verb of the command that continues an `up`."""
    return f"up {REFRESH}" if refresh else "up"


def refuse_with_preview(environment: str, preview: Path | None, *, refresh: bool) -> None:
    """Pass unless an apply would be restricted to a preview, and refresh its stacks.

    Raises:
        Stop: with BAD_DATA.
    """
    if refresh and preview is not None:
        msg = f"{REFRESH}: cannot be combined with --preview, because the previewed change does not contain the objects"
        msg += f" that a refresh finds missing; run 'jacquard up {environment} {REFRESH}' first"
        raise Stop(msg, ExitCode.BAD_DATA)


def refuse_with_base(base: str | None, *, refresh: bool) -> None:
    """Pass unless the preview of a change, which always reads the live objects, would refresh its stacks.

    Raises:
        Stop: with BAD_DATA.
    """
    if refresh and base is not None:
        msg = f"{REFRESH}: cannot be combined with --base, which reports drift without {REFRESH}; remove one of them"
        raise Stop(msg, ExitCode.BAD_DATA)


def found(run: Run) -> Iterator[str]:
    """Yield the objects that are missing in their clusters, and those with other values than the last apply.

    Args:
        run: preview with a refresh. Only objects in the state were read.
    """
    drift = object_changes((), run.progress.steps.drift.values(), Declared((), ()), Secrets.of(()))
    missing = _names(change for change in drift if change.operation is Operation.CREATE)
    differing = [name for name in _names(drift) if name not in missing]
    if missing:
        count = plural(len(missing), "recorded object is", "recorded objects are")
        text = f"{run.stack}: {count} missing in the cluster: {listed(missing, _MOST_NAMED)}"
        yield f"{text}; objects that the data declares are created again"
    if differing:
        count = plural(len(differing), "object differs", "objects differ")
        yield f"{run.stack}: {count} from the last apply: {listed(differing, _MOST_NAMED)}"


def _names(changes: Iterable[ObjectChange]) -> list[str]:
    """Return the objects of changes as kind, cluster, namespace and name, sorted without duplicates."""
    return sorted({f"{change.kind.rpartition('/')[2]} {name}" for change in changes for name in change.names})
