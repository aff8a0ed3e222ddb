"""Rules about an operator that applies the slices of a region."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, place, problem
from components.lookups.slices import BY_COMMAND, slices
from components.render.region.engine.engine import MAX_NAME_CHARACTERS, TOOL
from components.rules.rule import Rules
from components.rules.tools import missing_tool
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem
from components.specs.region.state import StackLayout

_ENGINE: DataPath = ("engine",)
_PASSPHRASE, _PROVIDER = "PULUMI_CONFIG_PASSPHRASE", "passphrase"


def layout(environment: Environment) -> Iterator[Problem]:
    """Report an operator in a region with a single stack, which has no slices to apply."""
    if environment.region.engine and environment.region.stacks is StackLayout.WHOLE:
        there = place(environment, REGION, _ENGINE)
        text = f"is whole, and the operator ({there}) applies slices; write stacks: sliced, or remove engine"
        yield problem(environment, REGION, ("stacks",), text)


def state(environment: Environment) -> Iterator[Problem]:
    """Report a state that the pods of an operator cannot read: a file, or a passphrase that they do not get."""
    region = environment.region
    if region.engine is None or region.state is None:
        return
    there = place(environment, REGION, _ENGINE)
    if region.stage is not Stage.REHEARSAL and region.state.backend.startswith("file://"):
        text = f"is a file of one machine, which pods of the operator ({there}) do not reach; write the URL of a bucket"
        yield problem(environment, REGION, ("state", "backend"), text)
    if region.state.secrets_provider == _PROVIDER and _PASSPHRASE not in region.engine.state_variables:
        variables = ", ".join((*region.engine.state_variables, _PASSPHRASE))
        text = f"lacks the passphrase of the state, which its pods need; write state_variables: [{variables}]"
        yield problem(environment, REGION, _ENGINE, text)


def names(environment: Environment) -> Iterator[Problem]:
    """Report slices whose name is too long for a Stack of the operator."""
    if environment.region.engine is None:
        return
    for piece in slices(environment):
        if piece.kind not in BY_COMMAND and len(piece.name) > MAX_NAME_CHARACTERS:
            text = (
                f"slice {piece.name} has {len(piece.name)} characters, a Stack of the operator may have"
                f" {MAX_NAME_CHARACTERS}; shorten the name of the {piece.kind}, or remove engine"
            )
            yield problem(environment, REGION, _ENGINE, text)


def image(environment: Environment) -> Iterator[Problem]:
    """Report an operator without an image of Pulumi among the tools of the version vector."""
    if environment.region.engine and (text := missing_tool(environment, TOOL)):
        yield problem(environment, REGION, _ENGINE, f"requires {text}")


RULES = Rules(references=(image,), data=(layout, state, names))
