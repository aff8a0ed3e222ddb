"""Images that the platform requires among the tools of the version vector."""

from components.specs.environment import Environment
from components.specs.reading.loader import VERSIONS
from components.specs.reading.problems import nearest


def missing_tool(environment: Environment, name: str, purpose: str = "") -> str | None:
    """Return that the image ``name``, for ``purpose``, is no tool, with the remedy; None if it is one.

    The text does not list the tools: the name is given, and only a tool with a similar name can be the same image.
    """
    tools = environment.versions.tool_names
    if name in tools:
        return None
    near = nearest(name, tools)
    rename = f", or rename '{near}' if it is the same image" if near else ""
    return f"'{name}'{purpose}, which is not among tools of {VERSIONS}; add it there{rename}"
