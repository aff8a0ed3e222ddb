"""Mark that identifies the objects of a resource by its Pulumi URN; field managers can be shared, URNs are unique.

Without the mark, a second stack, or a resource that was renamed or moved to another apiVersion, would adopt an existing
object; deleting one of the two resources would then delete the object of both.
"""

MADE_BY = "jacquard.dev/made-by"
"""Annotation with the URN of the resource that created an object."""
