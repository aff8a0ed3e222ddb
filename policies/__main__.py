"""Entry point of the policy pack: ``pulumi preview --policy-pack policies``."""

from jacquard.machine.loading import without_collector

with without_collector():
    from policies.pack.analyzer import run

if __name__ == "__main__":
    run()
