"""Components of a GPU cloud region. The package imports nothing, so that specs do not depend on Pulumi."""
