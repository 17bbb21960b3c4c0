"""The tables of a project. Migrations make them; a test keeps the two in step."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_N_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Counter = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts rows by itself only where the key is an INTEGER."""

settings = Table(
    "settings",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("value", Text, nullable=False),  # JSON
)

documents = Table(
    "documents",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(500), nullable=False),
    Column("part", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("content", Text, nullable=False),  # one line of our JSON lines, gold clusters included
    Column("has_gold", Boolean, nullable=False),
    Column("held_out", Boolean, nullable=False),  # never asked about; the model is scored on it
    Column("source", Text),  # the file it came from
    Column("source_digest", String(64)),
    Column("added_at", Float, nullable=False),
    UniqueConstraint("name", "part"),
)

document_notes = Table(
    "document_notes",
    metadata,
    Column("document_id", ForeignKey("documents.id"), primary_key=True),
    Column("tags", Text, nullable=False),  # JSON, a list of words
    Column("assigned", Text, nullable=False),  # JSON, the ids of the people it is for; empty: for anybody
    Column("reviewed_at", Float),
    Column("reviewed_by", ForeignKey("people.id")),
    Column("trashed_at", Float),
    Column("reviewed_version", Integer),  # the model version whose entities were reviewed
)
"""The owner's notes about a document. A document without a row has none."""

people = Table(
    "people",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("role", String(20), nullable=False),
    Column("token_hash", String(64), unique=True),
    Column("active", Boolean, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("welcomed_at", Float),  # when they had seen the guidelines and the tutorial
)

logins = Table(
    "logins",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False, index=True),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
)

assignments = Table(
    "seats",
    metadata,
    Column("person_id", ForeignKey("people.id"), primary_key=True),
    Column("document_id", ForeignKey("documents.id"), primary_key=True, index=True),
    Column("model_version", Integer, nullable=False),  # behind the open question
    Column("done", Boolean, nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("touched_at", Float, nullable=False),
)
"""Who works on which document. A document that a person has opened is one session."""

events = Table(
    "events",
    metadata,
    Column("id", Counter, primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False),
    Column("document_id", ForeignKey("documents.id"), nullable=False),
    Column("place", Integer, nullable=False),  # in the session's log, from 1
    Column("client_id", String(64), nullable=False),
    Column("kind", String(20), nullable=False),  # answer, edit, withdraw, undo, redo
    Column("event", Text, nullable=False),  # as in the session's log, JSON
    Column("outcome", Text),  # what it brought about, JSON; for answering a retry
    Column("seconds", Float, nullable=False),
    Column("reading", Float),
    Column("initial", Float),
    Column("follow_up", Float),
    Column("model_version", Integer, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("person_id", "document_id", "place"),
    UniqueConstraint("person_id", "client_id"),
)
"""The append-only log: no row is ever changed or removed."""

versions = Table(
    "versions",
    metadata,
    Column("id", Integer, primary_key=True),  # the number of the version
    Column("name", String(100), nullable=False),  # rules, starter, or what it was trained on
    Column("kind", String(20), nullable=False),  # rules, starter, trained
    Column("state", String(20), nullable=False),  # training, ready, failed
    Column("answers", Integer, nullable=False),  # how many it was trained on
    Column("f1", Float),
    Column("message", Text),
    Column("created_at", Float, nullable=False),
)

WorkerState = Literal["idle", "loading", "predicting", "training", "failed"]  # what `worker.state` may hold

worker = Table(
    "worker",
    metadata,
    Column("id", Integer, primary_key=True),  # always 1
    Column("state", String(20), nullable=False),
    Column("message", Text),
    Column("share_done", Float),
    Column("requested", Boolean, nullable=False),  # somebody asked for training
    Column("beat_at", Float, nullable=False),
)

writers = Table(
    "writers",
    metadata,
    Column("id", String(32), primary_key=True),  # "server", or the holder
    Column("holder", String(32), nullable=False),  # one writer in one process
    Column("batch", Integer, nullable=False),  # the last one it committed
    Column("at", Float, nullable=False),
)
"""Each batch of writes leaves its number here, to tell whether a commit that failed still took effect."""

decisions = Table(
    "decisions",
    metadata,
    Column("document_id", ForeignKey("documents.id"), primary_key=True),
    Column("mention", String(200), primary_key=True),  # JSON of the span
    Column("decision", Text, nullable=False),  # JSON
    Column("person_id", ForeignKey("people.id"), nullable=False),
    Column("at", Float, nullable=False),
)

study_questions = Table(
    "study_questions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("set_name", String(1), nullable=False),  # A or B
    Column("place", Integer, nullable=False),  # in its set, from 0
    Column("late", Boolean, nullable=False),  # from a late round
    Column("labels", Integer, nullable=False),  # how many labels a document had in the run it was sampled from
    Column("document_id", ForeignKey("documents.id"), nullable=False),
    Column("question", Text, nullable=False),  # JSON: mention, antecedent, probability, score
)
"""The timing study's two sets of questions."""

study_sessions = Table(
    "study_sessions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False),
    Column("first_set", String(1), nullable=False),
    Column("protocol", String(20), nullable=False),
    Column("began_at", Float, nullable=False),
    Column("client_id", String(64)),  # of the request that began it
)
"""A person may have several, one after the other."""

study_answers = Table(
    "study_answers",
    metadata,
    Column("id", Counter, primary_key=True),
    Column("session_id", ForeignKey("study_sessions.id"), nullable=False),
    Column("question_id", ForeignKey("study_questions.id"), nullable=False),
    Column("client_id", String(64), nullable=False),
    Column("answer", Text, nullable=False),  # JSON
    Column("reading", Float),
    Column("initial", Float),
    Column("follow_up", Float),
    Column("at", Float, nullable=False),
    UniqueConstraint("session_id", "question_id"),
    UniqueConstraint("session_id", "client_id"),
)
