"""``jacquard status``: current state of a region, read from its clusters."""

from components.specs.struct import asdict
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.region import status as status_view
from jacquard.observe.observation import observe
from jacquard.observe.region_status import assemble


def status(environment: arguments.Env, output: arguments.FormatOption = Format.TEXT) -> None:
    """Show the current state of a region.

    Shows clusters, node pools, hardware, Helm releases, networks, storage and VMs. Counts existing machines: a pool is
    settled when all declared nodes are ready and run the pinned image. Exits with 0, also if the region is not settled.
    If a cluster does not answer, it is named, the rest is shown, and the exit code is 7, because the state is unknown.
    """
    spec = data.load(environment)
    state = assemble(spec, observe(spec))
    if output is Format.JSON:
        print_json(asdict(state))
    else:
        status_view.show(stdout(), state)
    if state.unreachable:
        msg = f"{environment}: {plural(len(state.unreachable), 'cluster')} cannot be read, so the state is unknown"
        raise Stop(msg, ExitCode.UNREACHABLE)
