"""Who takes part: owners and annotators, their invitations and logins. Only hashes of tokens are kept."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from corefine.errors import InputError
from corefine.project.store import schema

OWNER = "owner"
ANNOTATOR = "annotator"
LOGIN_DAYS = 90


@dataclass(frozen=True, slots=True)
class Person:
    id: int
    name: str
    role: str
    active: bool = True

    @property
    def is_owner(self) -> bool:
        return self.role == OWNER


_PERSON = (schema.people.c.id, schema.people.c.name, schema.people.c.role, schema.people.c.active)


def hashed(token: str) -> str:
    """Tokens are random and long, so a plain digest is enough: there is nothing to guess."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    return secrets.token_urlsafe(32)


def everybody(connection: Connection) -> list[Person]:
    return [_person(row) for row in connection.execute(select(*_PERSON).order_by(schema.people.c.id))]


def by_id(connection: Connection, person_id: int) -> Person | None:
    row = connection.execute(select(*_PERSON).where(schema.people.c.id == person_id)).first()
    return None if row is None else _person(row)


def first_owner(connection: Connection) -> Person:
    """The owner whom a server on loopback takes its visitor for; made if there is none."""
    query = select(*_PERSON).where(schema.people.c.role == OWNER, schema.people.c.active).order_by(schema.people.c.id)
    row = connection.execute(query).first()
    return _person(row) if row is not None else add(connection, "owner", OWNER)


def add(connection: Connection, name: str, role: str = ANNOTATOR) -> Person:
    name = " ".join(name.split()).replace("\0", "")
    if not name:
        raise InputError("a person needs a name")
    if role not in (OWNER, ANNOTATOR):
        raise InputError(f"there is no role {role!r}; choose {OWNER} or {ANNOTATOR}")
    taken = connection.execute(select(schema.people.c.id).where(schema.people.c.name == name)).first()
    if taken is not None:
        raise InputError(f"there is somebody called {name!r} already; choose another name")
    values = {"name": name, "role": role, "active": True, "created_at": time.time()}
    query = insert(schema.people).values(values).returning(schema.people.c.id)
    return Person(connection.execute(query).scalar_one(), name, role)


def invite(connection: Connection, person: Person) -> str:
    """A new token for a person, shown once; the old one and every login of it end."""
    token = new_token()
    values = {"token_hash": hashed(token), "active": True}
    connection.execute(update(schema.people).where(schema.people.c.id == person.id).values(values))
    connection.execute(delete(schema.logins).where(schema.logins.c.person_id == person.id))
    return token


def revoke(connection: Connection, person: Person) -> None:
    """End a person's access; what they answered stays."""
    others = select(func.count()).where(
        schema.people.c.role == OWNER, schema.people.c.active, schema.people.c.id != person.id
    )
    if person.is_owner and not connection.execute(others).scalar_one():
        raise InputError(f"{person.name} is the only owner; a project needs one")
    values = {"token_hash": None, "active": False}
    connection.execute(update(schema.people).where(schema.people.c.id == person.id).values(values))
    connection.execute(delete(schema.logins).where(schema.logins.c.person_id == person.id))


def by_token(connection: Connection, token: str) -> Person | None:
    """Whose invitation this is."""
    query = select(*_PERSON).where(schema.people.c.token_hash == hashed(token), schema.people.c.active)
    row = connection.execute(query).first()
    return None if row is None else _person(row)


def log_in(connection: Connection, person: Person) -> str:
    """A secret for the person's browser to show from now on."""
    secret = new_token()
    now = time.time()
    values = {"token_hash": hashed(secret), "person_id": person.id, "created_at": now}
    connection.execute(insert(schema.logins).values(**values, expires_at=now + LOGIN_DAYS * 86_400))
    connection.execute(delete(schema.logins).where(schema.logins.c.expires_at < now))
    return secret


def once(connection: Connection, person: Person) -> str:
    """A token that lets a person in one time, as for the owner who starts the server; ends nothing else."""
    return log_in(connection, person)


def enter(connection: Connection, token: str) -> tuple[Person, str] | None:
    """Trade an invitation's token, or one from `once`, for a login."""
    person = by_token(connection, token)
    if person is None:
        person = by_login(connection, token)
        log_out(connection, token)
    return None if person is None else (person, log_in(connection, person))


def log_out(connection: Connection, secret: str) -> None:
    connection.execute(delete(schema.logins).where(schema.logins.c.token_hash == hashed(secret)))


def by_login(connection: Connection, secret: str) -> Person | None:
    """Who shows this secret."""
    logins = schema.logins.c
    query = (
        select(*_PERSON)
        .join(schema.logins, logins.person_id == schema.people.c.id)
        .where(logins.token_hash == hashed(secret), logins.expires_at > time.time(), schema.people.c.active)
    )
    row = connection.execute(query).first()
    return None if row is None else _person(row)


def any_tokens(connection: Connection) -> bool:
    """Whether anybody has an invitation: from then on nobody gets in without."""
    return (
        connection.execute(select(schema.people.c.id).where(schema.people.c.token_hash.is_not(None))).first()
        is not None
    )


def _person(row: Any) -> Person:
    return Person(row.id, row.name, row.role, row.active)
