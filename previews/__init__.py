"""What a change does, told before it is merged: its impact on nodes, DPUs, control planes, networks and storage.

Everything here is pure but ``bases``, which asks git for the data of the base. No engine and no cluster is asked.
"""
