"""The timing study: its questions, sessions and answers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _key(table: str, column: str, target: str) -> sa.ForeignKey:
    return sa.ForeignKey(target, name=f"fk_{table}_{column}")


def upgrade() -> None:
    op.create_table(
        "study_questions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("set_name", sa.String(1), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("late", sa.Boolean, nullable=False),
        sa.Column("labels", sa.Integer, nullable=False),
        sa.Column("document_id", sa.Integer, _key("study_questions", "document_id", "documents.id"), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
    )
    op.create_table(
        "study_sessions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("person_id", sa.Integer, _key("study_sessions", "person_id", "people.id"), nullable=False),
        sa.Column("first_set", sa.String(1), nullable=False),
        sa.Column("protocol", sa.String(20), nullable=False),
        sa.Column("began_at", sa.Float, nullable=False),
        sa.UniqueConstraint("person_id", name="uq_study_sessions_person_id"),
    )
    op.create_table(
        "study_answers",
        sa.Column("id", COUNTER, primary_key=True),
        sa.Column("session_id", sa.Integer, _key("study_answers", "session_id", "study_sessions.id"), nullable=False),
        sa.Column(
            "question_id", sa.Integer, _key("study_answers", "question_id", "study_questions.id"), nullable=False
        ),
        sa.Column("client_id", sa.String(64), nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("reading", sa.Float),
        sa.Column("initial", sa.Float),
        sa.Column("follow_up", sa.Float),
        sa.Column("at", sa.Float, nullable=False),
        sa.UniqueConstraint("session_id", "question_id", name="uq_study_answers_session_id_question_id"),
        sa.UniqueConstraint("session_id", "client_id", name="uq_study_answers_session_id_client_id"),
    )
