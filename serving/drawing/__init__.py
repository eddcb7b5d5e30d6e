"""Pictures of graphs and runs, each one HTML page that needs nothing but a browser."""
