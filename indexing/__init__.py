"""Pure functions from files to chunks, units and graphs."""
