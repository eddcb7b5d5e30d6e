"""Files and records to documents."""
