"""The Pulumi program: what a stack's name stands for, from the data beside it."""

from jacquard.machine.loading import without_collector

with without_collector():
    from stacks.program import run

if __name__ == "__main__":
    run()
