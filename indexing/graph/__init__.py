"""From texts to entities, communities and reports."""
