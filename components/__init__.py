"""Components of a GPU cloud region. Importing this package loads nothing, so that specs stay free of Pulumi."""
