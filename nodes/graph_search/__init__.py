"""What is read of a knowledge graph around a question, for local search and DRIFT."""
