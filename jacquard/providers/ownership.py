"""Mark by which a resource recognises its own objects: field managers can be shared, Pulumi URNs are unique.

Without the mark, a second stack, or a resource that was renamed or moved to another apiVersion, would adopt an existing
object; deleting either resource would then delete the object of both.
"""

MADE_BY = "jacquard.dev/made-by"
"""Annotation with the URN of the resource that created an object."""
