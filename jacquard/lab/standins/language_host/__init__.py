"""Stand-in for the vendor's ``pulumi-language-python``: starts Python programs and policy packs."""
