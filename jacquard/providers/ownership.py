"""The mark by which a resource knows again what it made: a field manager may be shared, a Pulumi URN is not.

Without it a second stack, or a resource that was renamed or moved to another apiVersion, would take over an object
that exists; deleting either resource would then delete the object of both.
"""

MADE_BY = "jacquard.dev/made-by"
"""Annotation with the URN of the resource that made an object."""
