"""Label Studio's JSON: a list of tasks, each with regions and relations in `annotations` or `predictions`.

The last annotation that was not cancelled is read; if there is none, the last prediction. Documents that came from an
annotation are written back as one, all others as predictions, which is how Label Studio takes pre-annotations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from corefine.document import Document
from corefine.formats import tasks
from corefine.formats.fields import WrongError, get_field
from corefine.formats.source import Source
from corefine.formats.tokens import text_of

NAME = "label-studio"
FROM, TO, LABEL = "label", "text", "Mention"
"""Names of the control, of the object and of the label, for regions that were not read from Label Studio."""

OWN = ("doc_key", tasks.CARRIER)
"""Fields of `data` that corefine writes besides the text."""

RESULTS = ("annotations", "completions", "predictions")
_SPAN_TYPES = ("labels", "hypertextlabels", "paragraphlabels")

EXPRESSES, losses = tasks.EXPRESSES, tasks.losses


def read(source: Source) -> Iterator[Document]:
    return tasks.read_tasks(source, NAME, _about, _task)


def _about(record: dict[str, Any]) -> tuple[object, Any]:
    data = _dict(record.get("data"))
    return data.get("doc_key"), data.get(tasks.CARRIER)


def _task(source: Source, record: dict[str, Any], name: str, line: int) -> tasks.Task:
    data = get_field(record, "data", dict, None)
    if data is None:  # the short export, JSON_MIN: the task's own fields, and marked spans without relations
        data = record
    kind, chosen = _chosen(source, record, line)
    result = [region for region in get_field(chosen, "result", list, []) if isinstance(region, dict)]
    short = data is record and next((v for k, v in record.items() if k == "label" and isinstance(v, list)), None)
    if short:
        result = [{"type": "labels", "value": value} for value in short]
    regions = [region for region in result if region.get("type") in _SPAN_TYPES]
    to = next((region["to_name"] for region in regions if isinstance(region.get("to_name"), str)), TO)
    text = next((data[key] for key in (to, TO) if isinstance(data.get(key), str)), None)
    if text is None:
        strings = [value for key, value in data.items() if isinstance(value, str) and key != "doc_key"]
        if len(strings) != 1:
            raise WrongError(f"the task's data has no text: neither {to} nor a single field of text")
        text = strings[0]
    task = tasks.Task(name, text, line, carried=data.get(tasks.CARRIER))
    for number, region in enumerate(regions):
        _add_region(task, region, str(region.get("id", f"r{number}")))
    for region in result:
        if region.get("type") == "relation":
            label = next(iter(_list(region.get("labels"))), None)
            ends = str(region.get("from_id")), str(region.get("to_id"))
            task.relate(label if isinstance(label, str) else None, ends, region)
    others = [region for region in result if region not in regions and region.get("type") != "relation"]
    task.fields = {
        "data": {key: value for key, value in data.items() if value is not text and key not in OWN},
        "task": {key: value for key, value in record.items() if key not in ("data", kind)},
        kind: {key: value for key, value in chosen.items() if key != "result"},
        "other regions": others,
    }
    task.fields = {key: value for key, value in task.fields.items() if value or key == kind != ""}
    if data is record:
        task.fields = {}
    return task


def _chosen(source: Source, record: dict[str, Any], line: int) -> tuple[str, dict[str, Any]]:
    """The annotation or prediction that is read, and what it is."""
    for kind in RESULTS:
        found = [each for each in get_field(record, kind, list, []) if isinstance(each, dict)]
        usable = [each for each in found if not each.get("was_cancelled")]
        if len(usable) > 1:
            what = f"the task has {len(usable)} {kind}; the last was read"
            source.fault(what, line=line, fatal=False)
        if usable:
            return kind, usable[-1]
    return "", {}


def _add_region(task: tasks.Task, region: dict[str, Any], id_: str) -> None:
    value = get_field(region, "value", dict, {})
    start, end = value.get("start"), value.get("end")
    if isinstance(value.get("globalOffsets"), dict):  # HTML: places in its text
        start, end = (value["globalOffsets"].get(key) for key in ("start", "end"))
    if type(start) is not int or type(end) is not int:
        raise WrongError(f"region {id_} has no start and end")
    task.regions[id_] = start, end
    kinds: list[Any] = next((value[kind] for kind in _SPAN_TYPES if isinstance(value.get(kind), list)), [])
    task.labels[id_] = str(kinds[0]) if kinds else ""
    if isinstance(value.get("text"), str):
        task.quotes[id_] = value["text"]


def render(document: Document) -> str:
    text, offsets = text_of(document)
    mentions = dict(tasks.mentions_of(document, offsets))
    out = tasks.written(document, NAME, mentions, "m")
    result: list[Any] = []
    for span, (start, end) in mentions.items():
        for id_ in out.ids[span]:
            value = {"start": start, "end": end, "text": text[start:end], "labels": [out.labels[id_] or LABEL]}
            result.append({"id": id_, "from_name": FROM, "to_name": TO, "type": "labels", "value": value})
    result += out.relations
    for span, before in out.missing:
        ends = {"from_id": out.ids[span][0], "to_id": out.ids[before][0]}
        result.append({**ends, "type": "relation", "direction": "right", "labels": ["coreference"]})
    fields = tasks.kept_fields(document, NAME)
    result += _list(fields.get("other regions"))
    kind = next((kind for kind in RESULTS if kind in fields), "predictions")
    about = _dict(fields.get(kind)) or ({"model_version": "corefine"} if kind == "predictions" else {})
    data = {"doc_key": document.name, TO: text} | _dict(fields.get("data"))
    if along := tasks.carried(document, NAME):
        data[tasks.CARRIER] = along
    record = {**_dict(fields.get("task")), "data": data, kind: [{**about, "result": result}]}
    return json.dumps(record, ensure_ascii=False)


def bundle(rendered: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """One list of all tasks, a task a line."""
    between = "[\n"
    for task in rendered:
        yield between
        yield task
        between = ",\n"
    yield "\n]\n" if between == ",\n" else "[]\n"


def _dict(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
