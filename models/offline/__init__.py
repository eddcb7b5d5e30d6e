"""The models that need no key, no server and no download."""
