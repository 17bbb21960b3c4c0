"""The API over a project."""
