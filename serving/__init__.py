"""Ways to use the graphs: command line, tools, diagnosis."""
