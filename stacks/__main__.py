"""The Pulumi program: what a stack's name stands for, from the data beside it."""

from stacks.program import run

if __name__ == "__main__":
    run()
