"""Rules about add-ons of tenant clusters."""
