"""The embedded index: LanceDB tables in a folder."""
