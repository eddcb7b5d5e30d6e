"""The techniques, one compiled LangGraph a file."""
