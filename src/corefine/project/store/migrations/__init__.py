"""Alembic's folder: how the tables of a project came to be, step by step."""
