"""What real controllers do across objects, and only that: joins, for which a kwok stage has no syntax."""
