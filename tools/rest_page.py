"""The reference of the REST API, made from the server's OpenAPI description: every call, and every type it uses."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LEFT_OUT = ("HTTPValidationError", "ValidationError")
"""Types of FastAPI's own errors; the server's errors have another shape."""

INTRODUCTION = """# REST calls

Made from the server's own description, which a running server has under `/api/openapi.json`. How to log in, retry and
read errors is on the page about conventions.
"""


def schema() -> dict[str, Any]:
    """The OpenAPI description."""
    from corefine.project import Project
    from corefine.web.app import create_app

    with tempfile.TemporaryDirectory() as folder, Project(Path(folder)) as project:
        return create_app(project, open=True).openapi()


def reference(described: dict[str, Any]) -> str:
    """The page, as Markdown."""
    types = {name: each for name, each in described["components"]["schemas"].items() if name not in LEFT_OUT}
    calls = [
        part
        for path, methods in sorted(described["paths"].items())
        for method, call in methods.items()
        for part in _call(method, path, call)
    ]
    lines = [INTRODUCTION, *calls, "## Types", ""]
    for name, each in sorted(types.items()):
        lines += [f"### {name}", "", *_type(each), ""]
    return "\n".join(lines)


def _call(method: str, path: str, call: dict[str, Any]) -> Iterator[str]:
    yield f"## {method.upper()} {path}\n"
    if call.get("description"):
        yield f"{call['description']}\n"
    rows = [
        (f"`{each['name']}` in the {each['in']}", _kind(each["schema"]), each.get("required", False))
        for each in call.get("parameters", ())
    ]
    body = call.get("requestBody", {}).get("content", {})
    rows += [("body", _kind(each.get("schema", {})), True) for each in body.values()]
    answer = call["responses"]["200"].get("content", {})
    rows += [("response", _kind(each.get("schema", {})), True) for each in answer.values()]
    yield from ["| | |", "|---|---|"]
    yield from (f"| {name} | {kind}{'' if required else ', may be left out'} |" for name, kind, required in rows)
    yield ""


def _type(each: dict[str, Any]) -> Iterator[str]:
    if each.get("description"):
        first, _, rest = each["description"].partition("\n\n")
        yield " ".join(first.split())
        yield from (["", "```text", rest, "```"] if rest else [])
        yield ""
    if "enum" in each:
        yield _kind(each)
    if "properties" in each:
        yield from ["| field | | |", "|---|---|---|"]
        required = each.get("required", ())
        for name, field in each["properties"].items():
            yield f"| `{name}` | {_kind(field)} | {'' if name in required else _default(field)} |"


def _default(field: dict[str, Any]) -> str:
    return "may be left out" if field.get("default") in (None, {}, []) else f"default `{field['default']}`"


def _kind(each: dict[str, Any]) -> str:
    """What a value is, in a few words; other types are links to their headings."""
    if "$ref" in each:
        name = each["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in each or "enum" in each:
        return ", ".join(f"`{value}`" for value in each.get("enum", [each.get("const")]))
    for several in ("anyOf", "oneOf"):
        if several in each:
            return " or ".join(_kind(one) for one in each[several])
    if "prefixItems" in each:
        return f"list of {', '.join(_kind(one) for one in each['prefixItems'])}"
    if each.get("type") == "array":
        return f"list of {_kind(each.get('items', {}))}"
    if each.get("type") == "object" and isinstance(each.get("additionalProperties"), dict):
        return f"object with values: {_kind(each['additionalProperties'])}"
    return str(each.get("type", "anything"))
