"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _documents_and_people()
    _work()
    _models()


def _documents_and_people() -> None:
    op.create_table(
        "settings",
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "documents",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(500), nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("has_gold", sa.Boolean, nullable=False),
        sa.Column("held_out", sa.Boolean, nullable=False),
        sa.Column("source", sa.Text),
        sa.Column("source_digest", sa.String(64)),
        sa.Column("added_at", sa.Float, nullable=False),
        sa.UniqueConstraint("name", "part", name="uq_documents_name_part"),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("token_hash", sa.String(64)),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.UniqueConstraint("name", name="uq_people_name"),
        sa.UniqueConstraint("token_hash", name="uq_people_token_hash"),
    )
    op.create_table(
        "logins",
        sa.Column("token_hash", sa.String(64), primary_key=True),
        sa.Column("person_id", sa.Integer, sa.ForeignKey("people.id", name="fk_logins_person_id"), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
    )
    op.create_index("ix_logins_person_id", "logins", ["person_id"])


def _work() -> None:
    op.create_table(
        "seats",
        sa.Column("person_id", sa.Integer, sa.ForeignKey("people.id", name="fk_seats_person_id"), primary_key=True),
        sa.Column(
            "document_id", sa.Integer, sa.ForeignKey("documents.id", name="fk_seats_document_id"), primary_key=True
        ),
        sa.Column("model_version", sa.Integer, nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("lease_until", sa.Float, nullable=False),
        sa.Column("touched_at", sa.Float, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("id", COUNTER, primary_key=True),
        sa.Column("person_id", sa.Integer, sa.ForeignKey("people.id", name="fk_events_person_id"), nullable=False),
        sa.Column(
            "document_id", sa.Integer, sa.ForeignKey("documents.id", name="fk_events_document_id"), nullable=False
        ),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("client_id", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("reading", sa.Float),
        sa.Column("initial", sa.Float),
        sa.Column("follow_up", sa.Float),
        sa.Column("model_version", sa.Integer, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.UniqueConstraint("person_id", "document_id", "place", name="uq_events_person_id_document_id_place"),
        sa.UniqueConstraint("person_id", "client_id", name="uq_events_person_id_client_id"),
    )


def _models() -> None:
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("answers", sa.Integer, nullable=False),
        sa.Column("f1", sa.Float),
        sa.Column("message", sa.Text),
        sa.Column("created_at", sa.Float, nullable=False),
    )
    op.create_table(
        "worker",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("message", sa.Text),
        sa.Column("share_done", sa.Float),
        sa.Column("requested", sa.Boolean, nullable=False),
        sa.Column("beat_at", sa.Float, nullable=False),
    )
    op.create_table(
        "decisions",
        sa.Column(
            "document_id", sa.Integer, sa.ForeignKey("documents.id", name="fk_decisions_document_id"), primary_key=True
        ),
        sa.Column("mention", sa.String(200), primary_key=True),
        sa.Column("decision", sa.Text, nullable=False),
        sa.Column("person_id", sa.Integer, sa.ForeignKey("people.id", name="fk_decisions_person_id"), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
