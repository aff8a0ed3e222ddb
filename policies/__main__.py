"""Entry point of the policy pack: ``pulumi preview --policy-pack policies``."""

from policies.analyzer import serve

if __name__ == "__main__":
    serve()
