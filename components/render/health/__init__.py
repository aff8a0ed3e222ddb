"""Objects for the detection of faults on nodes and the actions on them."""
