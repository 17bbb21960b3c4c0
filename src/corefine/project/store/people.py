"""The people of a project: owners and annotators, their invitations and logins. Only hashes of tokens are stored."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from corefine.errors import InputError
from corefine.project.store import schema

OWNER = "owner"
ANNOTATOR = "annotator"
LOGIN_DAYS = 90

PEOPLE, LOGINS = schema.people.c, schema.logins.c
_PERSON = select(PEOPLE.id, PEOPLE.name, PEOPLE.role, PEOPLE.active)


@dataclass(frozen=True, slots=True)
class Person:
    id: int
    name: str
    role: str
    active: bool = True

    @property
    def is_owner(self) -> bool:
        return self.role == OWNER


def everybody(connection: Connection) -> list[Person]:
    return [Person(*row) for row in connection.execute(_PERSON.order_by(PEOPLE.id))]


def names(connection: Connection) -> dict[int, str]:
    return {person.id: person.name for person in everybody(connection)}


def by_id(connection: Connection, person_id: int) -> Person | None:
    return _first(connection, _PERSON.where(PEOPLE.id == person_id))


def first_owner(connection: Connection) -> Person:
    """The owner, as whom a server on loopback serves everybody; made if there is none."""
    owners = _PERSON.where(PEOPLE.role == OWNER, PEOPLE.active).order_by(PEOPLE.id)
    return _first(connection, owners) or add(connection, "owner", OWNER)


def add(connection: Connection, name: str, role: str = ANNOTATOR) -> Person:
    name = " ".join(name.split()).replace("\0", "")
    if not name:
        raise InputError("a person needs a name")
    if role not in (OWNER, ANNOTATOR):
        raise InputError(f"there is no role {role!r}; choose {OWNER} or {ANNOTATOR}")
    if _first(connection, _PERSON.where(PEOPLE.name == name)) is not None:
        raise InputError(f"there is somebody called {name!r} already; choose another name")
    values = {"name": name, "role": role, "active": True, "created_at": time.time()}
    query = insert(schema.people).values(values).returning(PEOPLE.id)
    return Person(connection.execute(query).scalar_one(), name, role)


def invite(connection: Connection, person: Person) -> str:
    """A new token for a person, shown once; their old token and all their logins end."""
    token = _new_token()
    _set_token(connection, person, _hashed(token))
    return token


def revoke(connection: Connection, person: Person) -> None:
    """End a person's access; their answers stay."""
    others = _PERSON.where(PEOPLE.role == OWNER, PEOPLE.active, PEOPLE.id != person.id)
    if person.is_owner and _first(connection, others) is None:
        raise InputError(f"{person.name} is the only owner; a project needs one")
    _set_token(connection, person, None)


def log_in(connection: Connection, person: Person) -> str:
    """A secret for the person's browser to keep. Given to `enter`, it lets the person in once more."""
    secret = _new_token()
    now = time.time()
    values = {"token_hash": _hashed(secret), "person_id": person.id, "created_at": now}
    connection.execute(insert(schema.logins).values(**values, expires_at=now + LOGIN_DAYS * 86_400))
    connection.execute(delete(schema.logins).where(LOGINS.expires_at < now))
    return secret


def enter(connection: Connection, token: str) -> tuple[Person, str] | None:
    """Trade an invitation's token, or a secret from `log_in`, which ends, for a login."""
    person = _first(connection, _PERSON.where(PEOPLE.token_hash == _hashed(token), PEOPLE.active))
    if person is None:
        person = by_login(connection, token)
        log_out(connection, token)
    return None if person is None else (person, log_in(connection, person))


def log_out(connection: Connection, secret: str) -> None:
    connection.execute(delete(schema.logins).where(LOGINS.token_hash == _hashed(secret)))


def by_login(connection: Connection, secret: str) -> Person | None:
    """The person who has this secret from `log_in`."""
    query = _PERSON.join(schema.logins, LOGINS.person_id == PEOPLE.id)
    valid = (LOGINS.token_hash == _hashed(secret), LOGINS.expires_at > time.time(), PEOPLE.active)
    return _first(connection, query.where(*valid))


def any_tokens(connection: Connection) -> bool:
    """Whether anybody has an invitation: from then on nobody gets in without one."""
    query = select(func.count()).where(PEOPLE.token_hash.is_not(None))
    return bool(connection.execute(query).scalar_one())


def _first(connection: Connection, query: Select[Any]) -> Person | None:
    row = connection.execute(query).first()
    return None if row is None else Person(*row)


def _set_token(connection: Connection, person: Person, token_hash: str | None) -> None:
    values = {"token_hash": token_hash, "active": token_hash is not None}
    connection.execute(update(schema.people).where(PEOPLE.id == person.id).values(values))
    connection.execute(delete(schema.logins).where(LOGINS.person_id == person.id))


def _hashed(token: str) -> str:
    """Tokens are long and random, so a plain digest is enough: there is nothing to guess."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _new_token() -> str:
    return secrets.token_urlsafe(32)
