"""The migrations of a project's tables, run by Alembic."""
