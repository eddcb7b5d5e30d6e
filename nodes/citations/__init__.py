"""Reading and checking citations, without a model. `ragweave.nodes.cite` is their face."""
