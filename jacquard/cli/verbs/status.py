"""``jacquard status``: what a region is like now, asked of its clusters."""

from __future__ import annotations

from dataclasses import asdict

from jacquard.cli import arguments, data
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.views.region import status as status_view
from jacquard.observe.observation import observe
from jacquard.observe.region_status import assemble


def status(environment: arguments.Env, output: arguments.FormatOption = Format.TEXT) -> None:
    """Show a region as it is now.

    Clusters, node pools, hardware, networks, storage and VMs. Counts machines, not intentions: a pool is settled
    when as many nodes as ordered are ready and run the pinned image. A cluster that does not answer is named, and
    the rest is shown. Ends with 0 whether or not the region is settled.
    """
    spec = data.load(environment)
    state = assemble(spec, observe(spec))
    if output is Format.JSON:
        print_json(asdict(state))
    else:
        status_view.show(stdout(), state)
