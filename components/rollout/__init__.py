"""Ways from what runs to something else: promotions, waves, limits, and what shows that a wave is settled."""
