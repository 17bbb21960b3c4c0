"""Must-links and cannot-links between mentions: closure, contradiction, explanation and withdrawal."""

from corefine.links.assertions import AnswerId, Assertion, Cannot, First, Must, NotAMention, Relation
from corefine.links.links import Change, Links

__all__ = ["AnswerId", "Assertion", "Cannot", "Change", "First", "Links", "Must", "NotAMention", "Relation"]
