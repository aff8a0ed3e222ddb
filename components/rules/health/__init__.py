"""Rules about checks of nodes and the actions on faults."""
