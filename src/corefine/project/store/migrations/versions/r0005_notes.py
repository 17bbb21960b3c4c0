"""What the owner notes about documents, and who was introduced to the work."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "document_notes",
        sa.Column("document_id", sa.Integer, sa.ForeignKey("documents.id"), primary_key=True),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("assigned", sa.Text, nullable=False),
        sa.Column("reviewed_at", sa.Float),
        sa.Column("reviewed_by", sa.Integer, sa.ForeignKey("people.id")),
        sa.Column("trashed_at", sa.Float),
    )
    op.add_column("people", sa.Column("welcomed_at", sa.Float))
    op.execute("UPDATE people SET welcomed_at = created_at")  # people who are already here know the work
