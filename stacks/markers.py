"""Words by which the command knows what the program told the engine; the command itself never loads Pulumi."""

WAITING = "waiting: "
"""How the error begins by which a stack ends that needs what is not there yet."""
NOT_READY = "not ready: "
"""How the lines begin that a preview says of objects that are there and that the run will wait for."""
