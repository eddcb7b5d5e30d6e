"""The nodes of DRIFT search."""
