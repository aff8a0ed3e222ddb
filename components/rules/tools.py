"""Images that the platform requires among the tools of the version vector."""

from components.specs.environment import Environment
from components.specs.reading.loader import VERSIONS
from components.specs.reading.problems import nearest


def missing_tool(environment: Environment, name: str, purpose: str = "") -> str | None:
    """Return that the image ``name``, for ``purpose``, is no tool, with the remedy; None if it is one.

    Of the existing tools, the text contains only the one with the most similar name, which may be the same image.
    """
    tools = environment.versions.tool_names
    if name in tools:
        return None
    near = nearest(name, tools)
    rename = f", or rename '{near}' if it is the same image" if near else ""
    return f"'{name}'{purpose}, which is not among tools of {VERSIONS}; add it there{rename}"
