"""Reads uploaded files in a separate process, so that answers do not have to wait."""
