"""Must-link and cannot-link between mentions, their closure, withdrawal and explanation."""

from corefine.links.assertions import AnswerId, Assertion, Cannot, First, Must, NotAMention, Relation
from corefine.links.links import Change, Links

__all__ = ["AnswerId", "Assertion", "Cannot", "Change", "First", "Links", "Must", "NotAMention", "Relation"]
