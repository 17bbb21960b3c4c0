"""A person may have several sessions of the timing study."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    answers = sa.Table("study_answers", sa.MetaData(), autoload_with=connection)
    kept = [dict(row._mapping) for row in connection.execute(sa.select(answers))]
    connection.execute(sa.delete(answers))  # SQLite makes the table of sessions anew, which answers must not refer to
    with op.batch_alter_table("study_sessions") as table:
        table.drop_constraint("uq_study_sessions_person_id", type_="unique")
        table.add_column(sa.Column("client_id", sa.String(64)))
    if kept:
        connection.execute(sa.insert(answers), kept)
