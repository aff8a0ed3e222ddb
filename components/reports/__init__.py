"""Reports of `jacquard show`."""
