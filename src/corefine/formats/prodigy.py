"""Prodigy's JSON lines, as `coref.manual`, `rel.manual` and `spans.manual` write them: tokens, spans and relations.

A relation names the last tokens of its two spans (`head` and `child`), and may hold the spans themselves. Tasks that
were rejected or ignored are left out, and reported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from corefine.document import Document
from corefine.formats import tasks
from corefine.formats.fields import WrongError, get_field
from corefine.formats.source import Source
from corefine.formats.tokens import Tokens, sentences_by_rules, text_of

NAME = "prodigy"
LABEL = "COREF"
MENTION = "MENTION"
FIELDS = frozenset(("text", "tokens", "spans", "relations", tasks.CARRIER))

EXPRESSES, losses = tasks.EXPRESSES, tasks.losses


def read(source: Source) -> Iterator[Document]:
    return tasks.read_tasks(source, NAME, _about, _task)


def _about(record: dict[str, Any]) -> tuple[object, Any]:
    meta = record.get("meta")
    return meta.get("doc_key") if isinstance(meta, dict) else None, record.get(tasks.CARRIER)


def _task(source: Source, record: dict[str, Any], name: str, line: int) -> tasks.Task | None:
    if record.get("answer", "accept") != "accept":
        source.fault(f"the answer is {record['answer']}: the task was left out", line=line, fatal=False)
        return None
    text = get_field(record, "text", str, None)
    if text is None:
        raise WrongError("the task has no text")
    task = tasks.Task(name, text, line, carried=record.get(tasks.CARRIER))
    tokens = [token for token in get_field(record, "tokens", list, []) if isinstance(token, dict)]
    offsets: list[tuple[Any, Any]] = [(token.get("start"), token.get("end")) for token in tokens]
    if not all(type(a) is int and type(z) is int and 0 <= a <= z <= len(text) for a, z in offsets):
        raise WrongError("a token has no start and end inside the text")
    words = [(a, z) for a, z in offsets if text[a:z].strip()]
    if words:
        forms = tuple(text[a:z] for a, z in words)
        if words != sorted(words):
            raise WrongError("tokens are out of order")
        task.tokens = Tokens(forms, tuple(words), sentences_by_rules(forms, source.language))
    for span in get_field(record, "spans", list, []):
        _add(task, span)
    for relation in get_field(record, "relations", list, []):
        if not isinstance(relation, dict):
            raise WrongError("a relation is not an object")
        ends = _end(task, relation, "head", offsets), _end(task, relation, "child", offsets)
        label = relation.get("label")
        task.relate(label if isinstance(label, str) else None, ends, relation)
    task.fields = {field: value for field, value in record.items() if field not in FIELDS}
    if isinstance(task.fields.get("meta"), dict):
        task.fields["meta"] = {key: value for key, value in task.fields["meta"].items() if key != "doc_key"}
        if not task.fields["meta"]:
            del task.fields["meta"]
    return task


def _add(task: tasks.Task, span: Any) -> str:
    """Add a span; its identifier is its characters, as Prodigy has no other."""
    start, end = (span.get(key) if isinstance(span, dict) else None for key in ("start", "end"))
    if type(start) is not int or type(end) is not int:
        raise WrongError("a span has no start and end")
    id_ = f"{start}-{end}"
    task.regions[id_] = start, end
    task.labels[id_] = str(span.get("label") or "") or task.labels.get(id_, "")
    if isinstance(span.get("text"), str):
        task.quotes[id_] = span["text"]
    return id_


def _end(task: tasks.Task, relation: dict[str, Any], side: str, offsets: list[tuple[Any, Any]]) -> str:
    """The identifier of one end: the span that the relation holds, or that ends at its token, or the token."""
    if isinstance(relation.get(f"{side}_span"), dict):
        return _add(task, relation[f"{side}_span"])
    token = relation.get(side)
    if type(token) is not int or not 0 <= token < len(offsets):
        raise WrongError(f"a relation has no {side} among the {len(offsets)} tokens")
    start, end = offsets[token]
    longest = min((region for region in task.regions.values() if region[1] == end), default=(start, end))
    return _add(task, {"start": longest[0], "end": end})


def render(document: Document) -> str:
    text, offsets = text_of(document)
    mentions = dict(tasks.mentions_of(document, offsets))
    out = tasks.written(document, NAME, mentions, "m")
    tokens = [
        {"text": text[a:z], "start": a, "end": z, "id": number, "ws": text[z : z + 1].isspace()}
        for number, (a, z) in enumerate(offsets)
    ]
    spans = {}
    for span, (start, end) in mentions.items():
        label = next((out.labels[id_] for id_ in out.ids[span] if out.labels[id_]), MENTION)
        spans[span] = {
            "start": start, "end": end, "token_start": span.start, "token_end": span.end, "label": label
        }  # fmt: skip
    relations = list(out.relations)
    for span, before in out.missing:
        ends = {"head": span.end, "child": before.end, "head_span": spans[span], "child_span": spans[before]}
        relations.append({**ends, "label": LABEL})
    fields = {k: v for k, v in tasks.kept_fields(document, NAME).items() if k not in FIELDS}
    fields["meta"] = {**(fields.get("meta") or {}), "doc_key": document.name}
    marked = [{"text": text[slice(*mentions[span])], **about} for span, about in spans.items()]
    record = {"text": text, "tokens": tokens, "spans": marked, "relations": relations, **fields}
    if along := tasks.carried(document, NAME, own=_own(document, text)):
        record[tasks.CARRIER] = along
    return json.dumps(record, ensure_ascii=False) + "\n"


def _own(document: Document, text: str) -> Tokens:
    """The tokens and sentences that a reader of the written task would find."""
    _, offsets = text_of(document)
    words = [(a, z) for a, z in offsets if text[a:z].strip()]
    forms = tuple(text[a:z] for a, z in words)
    return Tokens(forms, tuple(words), sentences_by_rules(forms, None))
