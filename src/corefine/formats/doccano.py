"""doccano's JSON lines: a text, `entities` with character offsets, and `relations` between them.

The older shape with `label` (or `labels`) as lists of [start, end, label] is read too; it has no relations.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from corefine.document import Document
from corefine.formats import tasks
from corefine.formats.fields import WrongError, as_list, get_field
from corefine.formats.source import Source
from corefine.formats.tokens import text_of

NAME = "doccano"
LABEL = "Mention"
RELATION = "coreference"
FIELDS = frozenset(("text", "data", "entities", "relations", "label", "labels", "doc_key", tasks.CARRIER))

EXPRESSES, losses = tasks.EXPRESSES, tasks.losses


def read(source: Source) -> Iterator[Document]:
    return tasks.read_tasks(source, NAME, lambda record: (record.get("doc_key"), record.get(tasks.CARRIER)), _task)


def _task(_: Source, record: dict[str, Any], name: str, line: int) -> tasks.Task:
    text = get_field(record, "text", str, get_field(record, "data", str, None))
    if text is None:
        raise WrongError("the task has no text")
    task = tasks.Task(name, text, line, carried=record.get(tasks.CARRIER))
    for number, entity in enumerate(get_field(record, "entities", list, [])):
        start, end = (entity.get(key) if isinstance(entity, dict) else None for key in ("start_offset", "end_offset"))
        if type(start) is not int or type(end) is not int:
            raise WrongError("an entity has no start_offset and end_offset")
        id_ = str(entity.get("id", f"m{number}"))
        task.regions[id_] = start, end
        task.labels[id_] = str(entity.get("label", ""))
    for number, mark in enumerate(get_field(record, "label", list, None) or get_field(record, "labels", list, [])):
        start, end, label = [*as_list(mark, "label"), None, None, None][:3]
        if type(start) is not int or type(end) is not int:
            raise WrongError("label holds something else than [start, end, label]")
        task.regions[f"l{number}"] = start, end
        task.labels[f"l{number}"] = str(label)
    for relation in get_field(record, "relations", list, []):
        if not isinstance(relation, dict):
            raise WrongError("a relation is not an object")
        ends = str(relation.get("from_id")), str(relation.get("to_id"))
        task.relate(str(relation.get("type")), ends, relation)
    task.fields = {field: value for field, value in record.items() if field not in FIELDS}
    return task


def render(document: Document) -> str:
    text, offsets = text_of(document)
    mentions = dict(tasks.mentions_of(document, offsets))
    out = tasks.written(document, NAME, mentions, "")
    entities = [
        {"id": _id(id_), "start_offset": start, "end_offset": end, "label": out.labels[id_] or LABEL}
        for span, (start, end) in mentions.items()
        for id_ in out.ids[span]
    ]
    relations = [
        *out.relations,
        *(
            {"from_id": _id(out.ids[span][0]), "to_id": _id(out.ids[before][0]), "type": RELATION}
            for span, before in out.missing
        ),
    ]
    record: dict[str, Any] = {"doc_key": document.name, "text": text, "entities": entities, "relations": relations}
    record |= {k: v for k, v in tasks.kept_fields(document, NAME).items() if k not in FIELDS}
    if along := tasks.carried(document, NAME):
        record[tasks.CARRIER] = along
    return json.dumps(record, ensure_ascii=False) + "\n"


def _id(id_: str) -> int | str:
    return int(id_) if id_.isascii() and id_.isdigit() else id_
