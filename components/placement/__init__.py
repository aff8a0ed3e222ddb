"""Placement of orders: the region of an order, with the reasons, and the edits of that region."""
