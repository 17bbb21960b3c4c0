"""The people of a project: owners and annotators, their invitations and logins. Only hashes of tokens are stored."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, select, update

from corefine.errors import InputError
from corefine.project.store import schema

OWNER = "owner"
ANNOTATOR = "annotator"
LOGIN_DAYS = 90
ONCE_SECONDS = 600.0
"""How long a single-use link is valid."""

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
    """The first owner; made if there is none. A server on loopback treats everybody as this owner."""
    owners = _PERSON.where(PEOPLE.role == OWNER, PEOPLE.active).order_by(PEOPLE.id)
    return _first(connection, owners) or add(connection, "owner", OWNER)


def add(connection: Connection, name: str, role: str = ANNOTATOR) -> Person:
    name = _checked_name(connection, name)
    if role not in (OWNER, ANNOTATOR):
        raise InputError(f"there is no role {role!r}; choose {OWNER} or {ANNOTATOR}")
    values = {"name": name, "role": role, "active": True, "created_at": time.time()}
    query = insert(schema.people).values(values).returning(PEOPLE.id)
    return Person(connection.execute(query).scalar_one(), name, role)


def is_introduced(connection: Connection, person: Person) -> bool:
    """Whether an annotator has read the guidelines and tried the tutorial; owners need not."""
    at = connection.execute(select(PEOPLE.welcomed_at).where(PEOPLE.id == person.id)).scalar()
    return person.is_owner or at is not None


def introduce(connection: Connection, person: Person) -> None:
    """Record that a person has seen the guidelines and the tutorial."""
    connection.execute(update(schema.people).where(PEOPLE.id == person.id).values(welcomed_at=time.time()))


def rename(connection: Connection, person: Person, name: str) -> Person:
    name = _checked_name(connection, name, besides=person.id)
    connection.execute(update(schema.people).where(PEOPLE.id == person.id).values(name=name))
    return replace(person, name=name)


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
    """A new secret for the cookie in the person's browser."""
    secret = _new_token()
    _add_login(connection, person, _hashed(secret), LOGIN_DAYS * 86_400)
    return secret


def token_for_once(connection: Connection, person: Person) -> str:
    """A token that `enter` accepts once, within ten minutes. It cannot be used as a cookie."""
    token = _new_token()
    _add_login(connection, person, _hashed_for_once(token), ONCE_SECONDS)
    return token


def guest(connection: Connection, token: str) -> Person | None:
    """The person whom `enter` would log in. Guesses are rejected without a write, so they delay nobody."""
    return _invited(connection, token) or _by_hash(connection, _hashed_for_once(token))


def enter(connection: Connection, token: str) -> tuple[Person, str] | None:
    """Exchange an invitation's token, or a single-use one from `token_for_once`, for a secret from `log_in`."""
    person = _invited(connection, token)
    if person is None:
        once = _hashed_for_once(token)
        person = _by_hash(connection, once)
        connection.execute(delete(schema.logins).where(LOGINS.token_hash == once))
    return None if person is None else (person, log_in(connection, person))


def log_out(connection: Connection, secret: str) -> None:
    connection.execute(delete(schema.logins).where(LOGINS.token_hash == _hashed(secret)))


def by_login(connection: Connection, secret: str) -> Person | None:
    """The person who has this secret from `log_in`."""
    return _by_hash(connection, _hashed(secret))


def anybody_invited(connection: Connection) -> bool:
    """Whether anybody was ever invited, even if revoked since. From then on everybody needs a link."""
    return (
        connection.execute(select(PEOPLE.id).where(PEOPLE.token_hash.is_not(None) | ~PEOPLE.active)).first() is not None
    )


def _checked_name(connection: Connection, name: str, *, besides: int | None = None) -> str:
    name = " ".join(name.split()).replace("\0", "")
    if not name:
        raise InputError("a person needs a name")
    if _first(connection, _PERSON.where(PEOPLE.name == name, PEOPLE.id != (besides or 0))) is not None:
        raise InputError(f"there is somebody called {name!r} already; choose another name")
    return name


def _invited(connection: Connection, token: str) -> Person | None:
    return _first(connection, _PERSON.where(PEOPLE.token_hash == _hashed(token), PEOPLE.active))


def _by_hash(connection: Connection, token_hash: str) -> Person | None:
    query = _PERSON.join(schema.logins, LOGINS.person_id == PEOPLE.id)
    return _first(
        connection, query.where(LOGINS.token_hash == token_hash, LOGINS.expires_at > time.time(), PEOPLE.active)
    )


def _add_login(connection: Connection, person: Person, token_hash: str, seconds: float) -> None:
    now = time.time()
    values = {"token_hash": token_hash, "person_id": person.id, "created_at": now, "expires_at": now + seconds}
    connection.execute(insert(schema.logins).values(values))
    connection.execute(delete(schema.logins).where(LOGINS.expires_at < now))


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


def _hashed_for_once(token: str) -> str:
    """A different digest from that of cookies, so that one cannot be used as the other."""
    return hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=32, person=b"corefine once").hexdigest()


def _new_token() -> str:
    return secrets.token_urlsafe(32)
