"""What a change does, told before it is merged: its impact on nodes, DPUs, control planes, networks and storage.

Pure but for ``bases``, which asks git for the base, ``edits`` and ``alone``, which read files, and ``rendered``, which
runs the code of the base. No engine and no cluster is asked.
"""
