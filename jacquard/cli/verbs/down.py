"""``jacquard down``: destroys an environment."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Annotated

import typer
from rich.text import Text

from components.lookups.pools import clusters
from components.render.manifest import MANAGEMENT
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from jacquard.cli import arguments, data, local_region
from jacquard.cli.console import stderr, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.runs.engine import watched
from jacquard.cli.runs.operator import require_no_stacks
from jacquard.cli.runs.stacks import Unfinished, require_done, together
from jacquard.cli.views.progress import Screen, ended
from jacquard.cli.views.summary import counted, show_stacks
from jacquard.engine import locks
from jacquard.engine.driver import Engine, Ready
from jacquard.engine.errors import EngineError
from jacquard.engine.parallel import Needs, among, backwards
from jacquard.machine import paths
from jacquard.observe.observation import connect
from jacquard.providers.errors import ProviderError
from stacks.target import BOOTSTRAP, stack_needs


def down(
    environment: arguments.Env,
    yes_destroy: Annotated[
        str | None,
        typer.Option(metavar="REGION", help="Name of the region; required unless it is a rehearsal."),
    ] = None,
) -> None:
    """Destroy an environment.

    Deletes the objects in the clusters, then, for a rehearsal, the clusters. A rehearsal is always removed, even if its
    clusters do not run or its data are invalid. Any other environment requires its name with --yes-destroy, and
    protected objects are never deleted. If an environment has several stacks, they are destroyed in parallel, each
    after its dependents. If a stack cannot be destroyed, its dependencies remain.
    """
    data.known(environment)
    with locks.exclusively(environment, "down"):
        spec = _readable(environment)
        if spec is None:
            local_region.remove(environment)
        elif spec.region.stage is Stage.REHEARSAL:
            _end_rehearsal(spec)
        else:
            _destroy_region(spec, yes_destroy)
    stdout().print(Text.assemble((environment, "bold"), ": destroyed"))


def _readable(name: str) -> Environment | None:
    """Return the environment; None if its data are invalid but this machine has a local region of that name."""
    try:
        return data.load(name)
    except SpecError as error:
        if not paths.region(name).exists():
            raise
        show(f"the data are invalid, so only the local region is removed:\n{error}", "warning")
        return None


def _end_rehearsal(spec: Environment) -> None:
    engine = Engine(spec.name, spec.region.state, {})
    bootstrap = f"{spec.name}.{BOOTSTRAP}"
    try:
        existing = engine.stacks()
        _fetch_kubeconfigs(spec)
        needs = among(stack_needs(spec), existing)
        _together(spec, needs, partial(_empty, engine, spec), resume=f"jacquard down {spec.name}")
        if bootstrap in existing:
            _try(Screen(stderr()), engine, bootstrap, "clusters")
    finally:
        # The removal also works without a readable state, and finds processes that no stack records.
        local_region.remove(spec.name, engine.variables)


def _together(environment: Environment, needs: Needs, work: Callable[[str, Screen], None], *, resume: str) -> None:
    """Work on stacks, each after the stacks that depend on it.

    Raises:
        Exception: the failure, if there is only one stack.
        Unfinished: some of several stacks failed.
    """
    outcomes = together(backwards(needs), work, telling=True)
    try:
        require_done(environment.name, outcomes, done="destroyed", resume=resume)
    except Unfinished as unfinished:
        show_stacks(stdout(), unfinished.rows(lambda _: ""))
        raise


def _empty(engine: Engine, spec: Environment, stack: str, screen: Screen) -> None:
    try:
        connect(spec, MANAGEMENT).request("GET", "/version")
    except (ProviderError, OSError) as error:
        text = f"{stack}: its clusters do not answer ({error}); their objects are removed with them"
        show(text, "note", screen.console)
        engine.forget(stack)
        return
    _try(screen, engine, stack, _title(stack))


def _try(screen: Screen, engine: Engine, stack: str, title: str) -> None:
    """Destroy a stack of a rehearsal; after a failure, delete its state, because the clusters are removed anyway."""
    try:
        # Protected objects are deleted too: a rehearsal has no tenants to protect.
        _destroy(screen, engine, _prepared(screen, engine, stack), title)
    except (Stop, EngineError) as failure:
        show(f"{failure}; its clusters are removed anyway", "warning", screen.console)
        engine.forget(stack)


def _destroy_region(spec: Environment, typed: str | None) -> None:
    if typed != spec.name:
        got = f"got '{typed}'" if typed else "it is missing"
        msg = (
            f"{spec.name}: stage {spec.region.stage} requires the name of the region in --yes-destroy ({got}); to"
            f" confirm, write --yes-destroy {spec.name}"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    engine = Engine(spec.name, spec.region.state, {})
    require_no_stacks(spec, engine)
    screen = Screen(stderr())
    needs = among(stack_needs(spec), engine.stacks())
    _fetch_kubeconfigs(spec)
    prepared = {stack: _prepared(screen, engine, stack) for stack in reversed(needs)}
    _require_unprotected(spec, prepared.values())

    def destroy(stack: str, screen: Screen) -> None:
        _destroy(screen, engine, prepared[stack], _title(stack))

    _together(spec, needs, destroy, resume=f"jacquard down {spec.name} --yes-destroy {spec.name}")


def _fetch_kubeconfigs(spec: Environment) -> None:
    """Fetch the kubeconfigs of tenants' clusters that only the pods of an operator have."""
    for placed in clusters(spec):
        with suppress(ProviderError, OSError):
            connect(spec, placed.cluster.name)


def _title(stack: str) -> str:
    return stack.partition(".")[2] or "region"


def _prepared(screen: Screen, engine: Engine, stack: str) -> Ready:
    ready = engine.prepare(stack)
    for repair in ready.repairs:
        show(repair, "note", screen.console)
    return ready


def _require_unprotected(spec: Environment, stacks: Iterable[Ready]) -> None:
    """Pass if no object is protected; otherwise the engine would delete its dependents before it rejects the run.

    Raises:
        Stop: objects are protected; contains all of them.
    """
    lines = [f"{ready.stack}: {urn}" for ready in stacks for urn in ready.protected]
    if lines:
        are = "object is" if len(lines) == 1 else "objects are"
        msg = (
            f"{spec.name}: {len(lines)} {are} protected, nothing was destroyed; remove it from the data first (a"
            " cluster with 'retire: true' and 'jacquard up'), or run 'pulumi state unprotect'"
        )
        raise Stop("\n".join([msg, *lines]))


def _destroy(screen: Screen, engine: Engine, ready: Ready, title: str) -> None:
    if not ready.resources:
        return
    engine.unprotect(ready.stack)  # the provider record is protected against a plain `pulumi destroy`
    total = sum(1 for item in ready.resources if item.get("custom") and not item["type"].startswith("pulumi:"))
    options = ("--yes", "--skip-preview")
    run = watched(engine, "destroy", ready.stack, *options, title=title, resume="down", total=total, screen=screen)
    ended(screen.console, title, run.duration_seconds, counted(run.progress.changes))
