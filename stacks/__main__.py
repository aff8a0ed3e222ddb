"""Entry point of the Pulumi program, which applies the data of the current stack."""

from jacquard.machine.loading import without_collector

with without_collector():
    from stacks.program import run

if __name__ == "__main__":
    run()
