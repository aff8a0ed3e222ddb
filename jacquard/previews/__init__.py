"""Impact of a change before it is merged: effects on nodes, DPUs, control planes, networks and storage.

Pure functions, except ``bases``, which runs git, ``edits`` and ``trials``, which read files, and ``rendered``, which
runs the code of the base. The impact needs no engine and no cluster.
"""
