"""The Pulumi program: loads the environment of the stack and registers the components of the stack's slices."""

import json
import os
from collections.abc import Mapping

import pulumi

from components.inputs.manifests import everything
from components.inputs.slice_inputs import made
from components.render.concept import Concept, Made
from components.render.region.engine.engine import EngineInput
from components.specs.base import Stage
from components.specs.reading.problems import SpecError
from components.specs.struct import replace
from jacquard.harness import serving
from jacquard.machine import paths, settings
from jacquard.machine.errors import SettingError
from jacquard.machine.kind import Kind
from jacquard.providers.errors import ProviderError
from stacks import kubeconfig
from stacks.ambient import refuse_ambient_clusters
from stacks.deploy import Deployment
from stacks.errors import StackError
from stacks.gates import pass_gates
from stacks.provider_record import keep
from stacks.rehearsal import deploy_clusters, write_list
from stacks.target import load_target


def run() -> None:
    """Register the resources of the current stack; report errors that users can fix as one message.

    Raises:
        RunError: a problem that the user must fix; the text contains the remedy.
    """
    try:
        _register()
    except (StackError, SpecError, ProviderError, SettingError) as error:
        raise pulumi.RunError(str(error)) from None


def _register() -> None:
    refuse_ambient_clusters()
    stack = pulumi.get_stack()
    target = load_target(stack, paths.environments(), settings.today())
    recorded = keep(stack)
    region = target.environment.region
    kubeconfigs = kubeconfig.folder(region.region)
    if target.bootstrap:
        deploy_clusters(target.environment, kubeconfigs)
        return
    preview = pulumi.runtime.is_dry_run()
    everything_made = [
        at_commits(item, stack, preview=preview) for piece in target.slices for item in made(target.environment, piece)
    ]
    silent = serving()["kubernetes"].kind is Kind.VENDOR
    pass_gates(
        stack,
        region,
        everything_made,
        kubeconfigs,
        preview=preview,
        others=lambda: everything(target.environment),
        recorded=recorded if silent else None,
    )
    if region.stage is Stage.REHEARSAL:
        # Previews also write this list, because an `up` without changes only runs a preview.
        write_list(target.environment)
    deployment = Deployment(region, kubeconfigs, checking=not preview)
    for item in everything_made:
        deployment.add(item)
    deployment.export()


def at_commits(
    item: Made[Concept], stack: str, *, preview: bool, variables: Mapping[str, str] = os.environ
) -> Made[Concept]:
    """Return ``item`` with the commits of this run, if it is the input of the engine.

    Commits of slices are no data: `jacquard up` sets them for each run.

    Raises:
        StackError: an applying run without a commit for each slice.
    """
    concept = item.concept
    if not isinstance(concept, EngineInput):
        return item
    commits = json.loads(variables.get(settings.COMMITS) or "{}")
    missing = [entry.name for entry in concept.slices if entry.name not in commits]
    if missing and not preview:
        environment = stack.partition(".")[0]
        msg = (
            f"stack '{stack}': {settings.COMMITS} has no commit for slice {missing[0]}, without which the operator"
            f" cannot apply the slice; run jacquard up {environment}, which sets the commits"
        )
        raise StackError(msg)
    return Made(replace(concept, commits=commits))
