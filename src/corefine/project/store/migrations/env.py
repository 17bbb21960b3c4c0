"""Run by Alembic when a project's database is opened; `Database.upgrade` passes the connection."""

from __future__ import annotations

from alembic import context

from corefine.project.store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
