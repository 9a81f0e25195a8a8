"""OpenAPI documents: each operation a tool."""

from __future__ import annotations

import json

import pytest

from strictcall import compile_tool
from strictcall.source.load import read_source
from strictcall.source.openapi import is_openapi, read_openapi

PET = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "tag": {"$ref": "#/components/schemas/Tag"},
        "friends": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}},
    },
    "required": ["id", "name"],
}


def document(paths, version="3.1.0", **components):
    components = {"schemas": {"Pet": PET, "Tag": {"type": "string", "enum": ["a", "b"]}}} | components
    return {"openapi": version, "info": {"title": "t", "version": "1"}, "paths": paths, "components": components}


def parameter(name, where="query", schema=None, **more):
    return {"name": name, "in": where, "schema": schema or {"type": "string"}, **more}


def body(schema, *, required=True, kind="application/json"):
    return {"required": required, "content": {kind: {"schema": schema}}}


def tool_of(operation, version="3.1.0", path="/pets", shared=None, **components):
    item = {"post": operation} | ({"parameters": shared} if shared else {})
    reading = read_openapi(document({path: item}, version, **components), "api")
    assert reading.problems == ()
    (tool,) = reading.tools
    return tool


def test_parameters_of_every_place_and_the_body_are_one_object():
    tool = tool_of(
        {
            "operationId": "addPet",
            "summary": "Add a pet.",
            "description": "It may not be there yet.",
            "parameters": [
                parameter("session", "cookie"),
                parameter("X-Trace", "header", required=True),
                parameter("Authorization", "header"),
                parameter("dry", schema={"type": "boolean"}, description="Only look"),
                parameter("shop", "path"),
            ],
            "requestBody": body({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
        }
    )
    assert (tool.name, tool.description) == ("addPet", "Add a pet.\n\nIt may not be there yet.")
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "shop": {"type": "string"},
            "dry": {"description": "Only look", "type": "boolean"},
            "X-Trace": {"type": "string"},
            "session": {"type": "string"},
            "name": {"type": "string"},
        },
        "required": ["shop", "X-Trace", "name"],
    }


def test_what_takes_no_body_takes_nothing_else():
    schema = tool_of({"parameters": [parameter("a")]}).parameters
    assert schema == {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}


def test_an_operation_gives_its_own_in_place_of_its_paths_parameters():
    shared = [parameter("id", "path", {"type": "integer"}), parameter("page", schema={"type": "integer"})]
    schema = tool_of(
        {"parameters": [parameter("page", description="own")]}, path="/pets/{id}", shared=shared
    ).parameters
    assert schema["properties"] == {"id": {"type": "integer"}, "page": {"description": "own", "type": "string"}}
    assert schema["required"] == ["id"]


def test_parameters_of_one_name_get_their_place_before_it():
    given = [parameter("id", "header"), parameter("id"), parameter("query_id"), parameter("id", "path")]
    assert list(tool_of({"parameters": given}).parameters["properties"]) == [
        "id",
        "query_id_2",
        "query_id",
        "header_id",
    ]


@pytest.mark.parametrize(
    ("schema", "required", "clash"),
    [
        ({"type": "object", "properties": {"id": {"type": "string"}}}, True, "id"),  # a parameter has the name
        ({"$ref": "#/components/schemas/Pet"}, False, None),  # it may be left out, and yet demands something
        ({"allOf": [{"$ref": "#/components/schemas/Pet"}]}, True, None),
        ({"type": "array", "items": {"type": "string"}}, True, None),
        ({"type": "object", "additionalProperties": {"type": "string"}}, True, None),
        ({"type": ["object", "null"], "properties": {"a": {}}}, True, None),
        ({"$ref": "#/components/schemas/Pet", "minProperties": 2}, True, None),  # says more than it refers to
        (True, True, None),
    ],
)
def test_a_body_that_cannot_be_taken_apart_stands_under_body(schema, required, clash):
    given = [parameter(clash)] if clash else []
    found = tool_of({"parameters": given, "requestBody": body(schema, required=required)}).parameters
    assert list(found["properties"]) == [*([clash] if clash else []), "body"]
    assert ("body" in found.get("required", [])) is required
    assert found["additionalProperties"] is False


def test_a_body_beside_a_parameter_called_body():
    found = tool_of({"parameters": [parameter("body")], "requestBody": body({"type": "string"})}).parameters
    assert list(found["properties"]) == ["body", "body_2"]


@pytest.mark.parametrize("rest", [{"additionalProperties": False}, {"additionalProperties": {"type": "integer"}}, {}])
def test_a_body_taken_apart_keeps_what_else_it_takes(rest):
    schema = {"type": "object", "properties": {"a": {}}, "required": ["a", "undeclared"], **rest}
    found = tool_of({"requestBody": body(schema)}).parameters
    assert {key: found[key] for key in found if key == "additionalProperties"} == rest
    assert found["required"] == ["a", "undeclared"]


def test_references_lead_to_definitions_that_come_along():
    tool = tool_of({"requestBody": body({"$ref": "#/components/schemas/Pet"})})
    properties = tool.parameters["properties"]
    assert properties["tag"] == {"$ref": "#/$defs/Tag"}
    assert properties["friends"]["items"] == {"$ref": "#/$defs/Pet"}
    assert list(tool.parameters["$defs"]) == ["Pet", "Tag"]
    assert "id" in properties  # 3.1 says no more of readOnly than that the server may ignore it
    compiled = compile_tool(tool, "json_schema")
    call = {"id": 1, "name": "Rex", "tag": "a", "friends": [{"id": 2, "name": "Ada", "friends": []}]}
    assert compiled.strict
    assert compiled.decode(compiled.encode(call)) == call
    assert compiled.check({**call, "friends": [{"id": 2}]}) != ()


def test_in_3_0_read_only_properties_are_no_part_of_a_request_and_references_stand_alone():
    sent = {"$ref": "#/components/schemas/Pet", "description": "kept", "nullable": True}
    tool = tool_of({"parameters": [parameter("pet", schema=sent)]}, "3.0.3")
    assert tool.parameters["properties"]["pet"] == {"$ref": "#/$defs/Pet", "description": "kept"}
    pet = tool.parameters["$defs"]["Pet"]
    assert list(pet["properties"]) == ["name", "tag", "friends"]
    assert pet["required"] == ["name"]


def test_in_3_0_nullable_and_boolean_bounds_are_left_to_the_reader():
    number = {"type": "integer", "nullable": True, "minimum": 0, "exclusiveMinimum": True}
    tool = tool_of({"parameters": [parameter("n", schema=number, required=True)]}, "3.0.3")
    assert tool.parameters["properties"]["n"] == number
    compiled = compile_tool(tool, "openai")
    assert compiled.check({"n": None}) == ()
    assert compiled.check({"n": 1}) == ()
    assert compiled.check({"n": 0}) != ()


def test_parameters_bodies_and_path_items_may_be_references():
    found = document(
        {"/a": {"$ref": "#/components/pathItems/A"}},
        parameters={"P": parameter("p"), "Q": {"$ref": "#/components/parameters/P"}},
        requestBodies={"B": body({"$ref": "#/components/schemas/Tag"})},
        pathItems={
            "A": {
                "put": {
                    "parameters": [{"$ref": "#/components/parameters/Q"}],
                    "requestBody": {"$ref": "#/components/requestBodies/B"},
                }
            }
        },
    )
    (tool,) = read_openapi(found, "api").tools
    assert tool.name == "put_a"
    assert tool.parameters["properties"] == {"p": {"type": "string"}, "body": {"$ref": "#/$defs/Tag"}}


def test_references_to_other_places_of_the_document():
    schemas = {
        "A": {"$ref": "#/components/schemas/Holder/properties/in~1side"},
        "B": {"$ref": "#/paths/~1x/get/parameters/0/schema"},
        "C": {"$ref": "#/components/schemas/C%20d"},
        "Holder": {"type": "object", "properties": {"in/side": {"type": "integer"}}},
        "C d": {"type": "boolean"},
        "Away": {"$ref": "https://example.com/x.json"},
        "schema": {"const": "another of the name"},
    }
    names = ["A", "B", "C", "Away", "schema"]
    given = [parameter(name, schema={"$ref": f"#/components/schemas/{name}"}, required=True) for name in names]
    paths = {"/x": {"get": {"parameters": [parameter("q", schema={"type": "string", "maxLength": 2})]}}}
    reading = read_openapi(document({**paths, "/y": {"get": {"parameters": given}}}, schemas=schemas), "api")
    tool = reading.tools[1]
    assert tool.parameters["$defs"]["Away"] == {"$ref": "https://example.com/x.json"}  # never fetched
    local = {**tool.parameters, "properties": {**tool.parameters["properties"], "Away": True}}
    local["$defs"] = {name: item for name, item in local["$defs"].items() if name != "Away"}
    compiled = compile_tool(type(tool)("local", None, local), "json_schema")
    fine = {"A": 1, "B": "ab", "C": True, "Away": 0, "schema": "another of the name"}
    assert compiled.check(fine) == ()
    for name, wrong in {"A": "x", "B": "abc", "C": 0, "schema": "x"}.items():
        assert compiled.check({**fine, name: wrong}) != ()


def test_json_is_taken_before_other_media_types():
    content = {
        "text/plain": {"schema": {"type": "string"}},
        "application/vnd.x+json": {"schema": {"type": "integer"}},
        "application/json; charset=utf-8": {"schema": {"type": "boolean"}},
    }
    tool = tool_of({"requestBody": {"content": content}})
    assert tool.parameters["properties"]["body"] == {"type": "boolean"}
    given = {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}}
    assert tool_of({"parameters": [given]}).parameters["properties"]["filter"] == {"type": "object"}
    assert tool_of({"requestBody": {"content": {"a/b": {}}}}).parameters["properties"]["body"] == {}


def test_names_without_operation_ids_are_made_of_method_and_path_and_distinct():
    paths = {"/pets/{pet-id}": {"get": {}, "delete": {}}, "/pets/{pet_id}": {"get": {}}, "/": {"get": {}}}
    reading = read_openapi(document(paths), "api")
    assert [tool.name for tool in reading.tools] == [
        "get_pets_pet_id",
        "delete_pets_pet_id",
        "get_pets_pet_id_2",
        "get",
    ]


def test_the_documents_own_dialect_is_said():
    found = document({"/x": {"get": {}}}) | {"jsonSchemaDialect": "http://json-schema.org/draft-07/schema#"}
    assert read_openapi(found, "api").tools[0].parameters["$schema"] == "http://json-schema.org/draft-07/schema#"
    found["jsonSchemaDialect"] = "https://spec.openapis.org/oas/3.1/dialect/base"
    assert "$schema" not in read_openapi(found, "api").tools[0].parameters


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ({"parameters": [{"$ref": "#/components/parameters/No"}]}, 'refers to "#/components/parameters/No", which'),
        ({"parameters": [{"$ref": "other.yaml#/P"}]}, 'refers to "other.yaml#/P", outside of the document'),
        ({"parameters": [{"$ref": "#/components/parameters/Loop"}]}, "references lead in a circle"),
        ({"parameters": [{"in": "query"}]}, "a parameter without a name"),
        ({"parameters": ["x"]}, "a parameter without a name"),
        ({"parameters": [{"name": "a", "in": "body"}]}, "the parameter 'a' is in \"body\""),
    ],
)
def test_an_operation_that_cannot_be_read_hides_no_other(operation, words):
    loop = {"Loop": {"$ref": "#/components/parameters/Loop"}}
    reading = read_openapi(document({"/x": {"get": operation, "put": {}}, "/y": 5}, parameters=loop), "api")
    assert [tool.name for tool in reading.tools] == ["put_x"]
    first, second = reading.problems
    assert first.place == "api: GET /x"
    assert words in first.text
    assert str(second) == "api: /y: not a path item but 5"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"swagger": "2.0", "paths": {}}, 'OpenAPI version "2.0" is not read'),
        ({"openapi": "2.0"}, 'OpenAPI version "2.0" is not read'),
        ({"openapi": "3.1.0", "paths": {}}, "there are no operations in it"),
        ({"openapi": "3.1.0"}, "there are no operations in it"),
    ],
)
def test_a_document_without_operations_is_one_problem(found, words):
    assert is_openapi(found)
    (problem,) = read_openapi(found, "api").problems
    assert words in problem.text


YAML = """
openapi: 3.1
paths:
  /on/{id}:
    get:
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
        - {name: "on", in: query, schema: {enum: [yes, no]}}
"""


@pytest.mark.parametrize(("name", "text"), [("api.yaml", YAML), ("api", YAML), ("api.json", None)])
def test_documents_are_files_of_either_format(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text or json.dumps(document({"/on/{id}": {"get": {"parameters": [parameter("on")]}}})))
    reading = read_source(str(path))
    assert reading.problems == ()
    (tool,) = reading.tools
    assert tool.name == "get_on_id"
    assert "on" in tool.parameters["properties"]


def test_a_flaw_spoils_the_operation_that_it_belongs_to(tmp_path):
    path = tmp_path / "api.json"
    text = json.dumps(document({"/x": {"get": {"parameters": [parameter("a", schema={"twice": 1})]}, "put": {}}}))
    path.write_text(text.replace('"twice": 1', '"type": "string", "type": "integer"'))
    reading = read_source(str(path))
    assert [tool.name for tool in reading.tools] == ["put_x"]
    (problem,) = reading.problems
    assert "the key 'type' is given twice" in problem.text


def test_a_large_document_is_read_in_reasonable_time():
    schemas = {
        f"S{row}": {"type": "object", "properties": {"next": {"$ref": f"#/components/schemas/S{row + 1}"}}}
        for row in range(500)
    }
    schemas["S500"] = {"type": "string"}
    paths = {
        f"/p{row}": {"post": {"requestBody": body({"$ref": f"#/components/schemas/S{row}"})}} for row in range(500)
    }
    reading = read_openapi(document(paths, schemas=schemas), "api")
    assert len(reading.tools) == 500
    assert len(reading.tools[0].parameters["$defs"]) == 500
