"""The model version whose entities were reviewed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("document_notes", sa.Column("reviewed_version", sa.Integer))
