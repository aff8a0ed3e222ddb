"""Entry point of the policy pack: ``pulumi preview --policy-pack policies``."""

from policies.analyzer import run

if __name__ == "__main__":
    run()
