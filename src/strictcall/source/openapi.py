"""OpenAPI 3 documents: each operation is a tool whose arguments are its parameters and its request body.

The words are those of https://spec.openapis.org/oas/v3.1.1.html and, for 3.0, https://spec.openapis.org/oas/v3.0.4.html.
Nothing is ever fetched: a reference that leads out of the document stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from strictcall.json_value import escape, excerpt, resolve_pointer
from strictcall.source.flaws import first_flaw
from strictcall.source.openapi_schema import BESIDE_REFERENCE, Schemas
from strictcall.source.reading import Problem, Reading, failed
from strictcall.tool import Tool

_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"})
_PLACES = ("path", "query", "querystring", "header", "cookie")
_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})
_NOT_NAME = re.compile(r"[^A-Za-z0-9]+")
_MOST_REFERENCES = 20
_PLAIN_BODY = frozenset(
    """
    type properties required additionalProperties title description example examples default nullable deprecated
    externalDocs xml
    """.split()
)


class _OperationError(ValueError):
    """An operation that cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation with what its path item says for all of them."""

    method: str
    path: str
    shared: list[Any]
    value: dict[str, Any]

    @property
    def pointer(self) -> str:
        """Where it stands in the document."""
        return f"/paths/{escape(self.path)}/{self.method}"


@dataclass(slots=True)
class _Arguments:
    """The object schema that an operation's arguments are put together in."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=lambda: {"additionalProperties": False})

    def add(self, name: str, schema: Any, required: bool) -> None:
        """Add one argument."""
        self.properties[name] = schema
        if required:
            self.required.append(name)


def is_openapi(value: Any) -> bool:
    """Whether a JSON value is an OpenAPI document, of a version that can be read or not."""
    return isinstance(value, dict) and isinstance(value.get("openapi", value.get("swagger")), str | float | int)


def read_openapi(document: dict[str, Any], place: str) -> Reading:
    """The operations of an OpenAPI 3 document as tools. Never raises: an operation that cannot be read is a problem.

    A tool is called by its ``operationId``, else by its method and path (``get_pets_id``). What it refers to under
    ``components`` is kept under ``$defs``.
    """
    version = str(document.get("openapi", document.get("swagger")))
    if not version.startswith("3."):
        return failed(
            place, f"OpenAPI version {excerpt(version)} is not read, 3.0 and later are; convert the document first"
        )
    schemas = Schemas(document, old=version.startswith("3.0"))
    tools: list[Tool] = []
    problems: list[Problem] = []
    names: set[str] = set()
    for found in _operations(document, place):
        if isinstance(found, Problem):
            problems.append(found)
            continue
        try:
            tools.append(_tool(document, found, schemas, names))
        except _OperationError as error:
            problems.append(Problem(f"{place}: {found.method.upper()} {found.path}", str(error)))
    if not tools and not problems:
        return failed(place, "there are no operations in it")
    return Reading(tuple(tools), tuple(problems))


def _operations(document: dict[str, Any], place: str) -> Iterator[_Operation | Problem]:
    paths = document.get("paths")
    for path, item in (paths if isinstance(paths, dict) else {}).items():
        try:
            known = _resolved(document, item)
        except _OperationError as error:
            yield Problem(f"{place}: {path}", str(error))
            continue
        if not isinstance(known, dict):
            yield Problem(f"{place}: {path}", f"not a path item but {excerpt(known)}")
            continue
        shared = known.get("parameters")
        for method, operation in known.items():
            if method in _METHODS and isinstance(operation, dict):
                yield _Operation(method, path, shared if isinstance(shared, list) else [], operation)


def _tool(document: dict[str, Any], operation: _Operation, schemas: Schemas, names: set[str]) -> Tool:
    name = operation.value.get("operationId")
    if not isinstance(name, str) or not name:
        name = _free(_NOT_NAME.sub("_", f"{operation.method}_{operation.path}").strip("_"), names)
    names.add(name)
    parameters = _schema(document, operation, schemas)
    flaw = first_flaw(parameters)
    if flaw is not None:
        raise _OperationError(flaw)
    return Tool(name, _described(operation.value), parameters)


def _free(name: str, taken: set[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free = f"{name}_{number}"
        number += 1
    return free


def _described(operation: dict[str, Any]) -> str | None:
    texts = [operation.get("summary"), operation.get("description")]
    said = [text.strip() for text in texts if isinstance(text, str) and text.strip()]
    if len(said) == 2 and said[1].startswith(said[0].rstrip(".")):
        del said[0]
    return "\n\n".join(said) or None


def _schema(document: dict[str, Any], operation: _Operation, schemas: Schemas) -> dict[str, Any]:
    """One object schema for all that the operation takes."""
    arguments = _Arguments()
    used: list[Any] = []
    for name, parameter in _named(_parameters(document, operation)):
        schema = _parameter_schema(parameter)
        arguments.add(name, schemas.written(schema), parameter.get("required") is True or parameter["in"] == "path")
        used.append(schema)
    body = _body(document, operation, schemas.old)
    if body is not None:
        used.append(_add_body(arguments, *body, schemas))
    whole: dict[str, Any] = {"type": "object", "properties": arguments.properties}
    if arguments.required:
        whole["required"] = arguments.required
    whole |= arguments.rest
    definitions = schemas.definitions(used)
    if definitions:
        whole["$defs"] = definitions
    return whole | schemas.dialect


def _resolved(document: dict[str, Any], value: Any) -> Any:
    """What a reference object stands for, within the document."""
    for _ in range(_MOST_REFERENCES):
        if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
            return value
        reference: str = value["$ref"]
        if not reference.startswith("#"):
            raise _OperationError(f"it refers to {excerpt(reference)}, outside of the document, which is not fetched")
        value = resolve_pointer(document, reference[1:])
        if value is None:
            raise _OperationError(f"it refers to {excerpt(reference)}, which is not there")
    raise _OperationError("its references lead in a circle")


def _parameters(document: dict[str, Any], operation: _Operation) -> list[dict[str, Any]]:
    """The operation's parameters, by place; those of the path item unless the operation gives its own."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    own = operation.value.get("parameters")
    for given in [*operation.shared, *(own if isinstance(own, list) else [])]:
        parameter = _resolved(document, given)
        if not isinstance(parameter, dict) or not isinstance(parameter.get("name"), str):
            raise _OperationError(f"a parameter without a name: {excerpt(parameter)}")
        where = parameter.get("in")
        if where not in _PLACES:
            raise _OperationError(
                f"the parameter {parameter['name']!r} is in {excerpt(where)}, which is no place for it"
            )
        if where == "header" and parameter["name"].lower() in _IGNORED_HEADERS:
            continue
        found[where, parameter["name"]] = parameter
    return sorted(found.values(), key=lambda parameter: _PLACES.index(parameter["in"]))


def _named(parameters: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each parameter with a name of its own: where two have the same, the later one has its place before it."""
    taken = {parameter["name"] for parameter in parameters}
    given: set[str] = set()
    for parameter in parameters:
        name: str = parameter["name"]
        if name in given:
            name = _free(f"{parameter['in']}_{name}", taken)
            taken.add(name)
        given.add(name)
        yield name, parameter


def _parameter_schema(parameter: dict[str, Any]) -> Any:
    """A parameter's schema, with the parameter's description where the schema has none."""
    schema = parameter.get("schema")
    if schema is None:
        schema = _content_schema(parameter.get("content"))
    text = parameter.get("description")
    if not isinstance(text, str) or not isinstance(schema, dict) or isinstance(schema.get("description"), str):
        return schema
    return {"description": text, **schema}


def _content_schema(content: Any) -> Any:
    """The schema of the media type that says most as JSON; any value where there is none."""
    if not isinstance(content, dict):
        return {}
    kinds = [kind for kind, media in content.items() if isinstance(media, dict) and "schema" in media]
    kinds.sort(key=lambda kind: (kind.split(";")[0].strip() != "application/json", "json" not in kind))
    return content[kinds[0]]["schema"] if kinds else {}


def _body(document: dict[str, Any], operation: _Operation, old: bool) -> tuple[Any, bool, dict[str, Any] | None] | None:
    """The schema of the request body, whether it is required, and the plain object that it is, if it is one."""
    body = _resolved(document, operation.value.get("requestBody"))
    if not isinstance(body, dict):
        return None
    schema = _content_schema(body.get("content"))
    if isinstance(body.get("description"), str) and isinstance(schema, dict):
        schema = {"description": body["description"], **schema}
    required = body.get("required") is True
    says_more = isinstance(schema, dict) and "$ref" in schema and not schema.keys() <= BESIDE_REFERENCE
    target = None if says_more and not old else _resolved(document, schema)
    return schema, required, target if _is_plain(target, required) else None


def _is_plain(schema: Any, required: bool) -> bool:
    """Whether a body's properties may stand among the parameters without a change of meaning."""
    return (
        isinstance(schema, dict)
        and isinstance(schema.get("properties"), dict)
        and schema.keys() <= _PLAIN_BODY
        and schema.get("nullable") is not True
        and schema.get("type", "object") in ("object", ["object"])
        # A body that may be left out and yet demands something cannot be told from its parts.
        and (required or not schema.get("required"))
    )


def _add_body(
    arguments: _Arguments, schema: Any, required: bool, plain: dict[str, Any] | None, schemas: Schemas
) -> Any:
    """Put the body's properties among the parameters, or all of it under ``body`` where that would not say the same.

    Gives the schema of the document that was used.
    """
    flat = schemas.written(plain) if plain is not None else None
    if flat is None or not flat["properties"].keys().isdisjoint(arguments.properties):
        arguments.add(_free("body", set(arguments.properties)), schemas.written(schema), required)
        return schema
    demanded = flat.get("required")
    for name, item in flat["properties"].items():
        arguments.add(name, item, isinstance(demanded, list) and name in demanded)
    extra = [name for name in demanded if name not in flat["properties"]] if isinstance(demanded, list) else []
    arguments.required += extra
    arguments.rest = {key: flat[key] for key in ("additionalProperties",) if key in flat}
    return plain
