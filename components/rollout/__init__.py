"""Promotions from one pinned state to another: waves, limits, and the evidence that a wave has settled."""
