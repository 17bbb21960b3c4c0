"""Where each link comes from: a person said it, it follows from several answers, or the model predicts it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from corefine.annotation import wording
from corefine.annotation.question import span_to_json
from corefine.annotation.session import Session
from corefine.document import Cluster, Span
from corefine.links import First, Must, Relation
from corefine.project.results.merged import Merged


def describe(found: Merged, version: int | None, names: Mapping[int, str]) -> dict[str, Any]:
    """A document's entities, and for each mention but an entity's first the link to an earlier mention.

    A link's `source` is "said" if one person said just this, "inferred" if it follows from `answers`, else "model".
    """
    session = found.session
    document = session.annotated()
    entries = {entry.number: entry for entry in session.entries}
    return {
        "document": document.name,
        "part": document.part,
        "model_version": version,
        "entities": [
            {
                "mentions": [{"span": span_to_json(span), "text": document.words(span)} for span in cluster],
                "links": [_link(found, cluster, span) for span in cluster[1:]],
            }
            for cluster in document.clusters
        ],
        "answers": [
            {
                "id": number,
                "person": names.get(source.person_id),
                "number": source.number,
                "decision": source.number is None,
                "from": entries[number].source,
                "at": datetime.fromtimestamp(source.at, UTC).isoformat(timespec="seconds"),
                "spans": [span_to_json(span) for span in wording.spans_in_order(entries[number])],
                "texts": [document.words(span) for span in wording.spans_in_order(entries[number])],
            }
            for number, source in found.sources.items()
        ],
        "left_out": [{"person": names.get(source.person_id), "number": source.number} for source in found.left_out],
    }


def _link(found: Merged, cluster: Cluster, mention: Span) -> dict[str, Any]:
    session = found.session
    antecedent = _antecedent(session, cluster, mention)
    link: dict[str, Any] = {"mention": span_to_json(mention), "antecedent": span_to_json(antecedent)}
    if session.links.relation(antecedent, mention) is Relation.MUST:
        answers = [number for number in session.links.explain(antecedent, mention) if isinstance(number, int)]
        direct = len(answers) == 1 and _says(session, answers[0], antecedent, mention)
        return {**link, "source": "said" if direct else "inferred", "answers": answers}
    row = session.revision.nodes.row(mention)
    column = None if row is None else session.revision.column(row, antecedent)
    chance = None if row is None or column is None else float(session.revision.rows[row, 1 + column])
    return {**link, "source": "model", "probability": chance}


def _antecedent(session: Session, cluster: Cluster, mention: Span) -> Span:
    """The earlier mention to link to: one that people linked it to, else the model's, else the one before."""
    earlier = [span for span in cluster if span < mention] or [cluster[0]]
    said = [span for span in earlier if session.links.relation(span, mention) is Relation.MUST]
    if said:
        return said[-1]
    row = session.revision.nodes.row(mention)
    chosen = None if row is None else session.revision.antecedent(row)
    return chosen if chosen in earlier and chosen is not None else earlier[-1]


def _says(session: Session, number: int, a: Span, b: Span) -> bool:
    """Whether an answer says directly that the two are one entity."""
    entry = next(entry for entry in session.entries if entry.number == number)
    return any(isinstance(each, Must | First) and set(each.spans) == {a, b} for each in entry.assertions)
