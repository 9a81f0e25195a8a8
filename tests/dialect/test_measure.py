import pytest

from strictcall.dialect import load, measure

TEXT = {"type": "string"}
NULLABLE = {"type": ["string", "null"]}


def counted(schema, name, dialect="json_schema"):
    return measure(schema, load(dialect))[name]


def obj(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("schema", "counts"),
    [
        ({}, {"properties": 0, "depth": 0, "json_depth": 1, "optional": 0, "unions": 0, "enum_values": 0}),
        (obj(), {"properties": 0, "depth": 1, "json_depth": 2}),
        (obj(["a"], a=TEXT, b=TEXT), {"properties": 2, "optional": 1, "depth": 1, "json_depth": 3}),
        (obj(a=obj(["b"], b=TEXT)), {"properties": 2, "optional": 1, "depth": 2}),
        ({"type": "array", "items": {"type": "array", "items": obj(a=TEXT)}}, {"properties": 1, "depth": 3}),
        # a definition is counted once, where it lies
        (
            {**obj(a={"$ref": "#/$defs/t"}, b={"$ref": "#/$defs/t"}), "$defs": {"t": obj(c=TEXT)}},
            {"properties": 3, "optional": 3, "depth": 2},
        ),
        ({**obj(), "$defs": {"unused": obj(a=obj(b=obj()))}}, {"properties": 2, "depth": 3}),
        # unions: of the property, or of what it refers to
        (obj(a=NULLABLE, b={"anyOf": [TEXT, {}]}, c={"type": ["string"]}, d=TEXT), {"unions": 2}),
        ({**obj(a={"$ref": "#/$defs/u"}, b={"$ref": "#/$defs/u"}), "$defs": {"u": NULLABLE}}, {"unions": 2}),
        (
            {**obj(a={"$ref": "#/$defs/v"}), "$defs": {"u": NULLABLE, "v": {"$ref": "#/$defs/u"}}},
            {"unions": 1},
        ),
        (obj(a={"type": "array", "items": NULLABLE}), {"unions": 0}),
        # literals and names
        (obj(ab={"enum": ["xyz", True, None, 12]}), {"enum_values": 4, "name_characters": 2 + 3 + 4 + 4 + 2}),
        ({**obj(), "$defs": {"name": {"const": "abc"}}}, {"enum_values": 0, "name_characters": 4 + 3}),
        ({"enum": ["ab"] * 250}, {"longest_enum_characters": 0, "name_characters": 500}),
        ({"enum": ["ab"] * 251}, {"longest_enum_characters": 502}),
        # data is not counted
        (obj(a={"default": {"properties": {"b": 1}}, "enum": [{"enum": [1, 2]}]}), {"properties": 1, "enum_values": 1}),
    ],
)
def test_counts(schema, counts):
    measured = measure(schema, load("json_schema"))
    assert {name: measured[name] for name in counts} == counts


def test_references_are_followed_for_depth_and_circles_end():
    chain = {**obj(a={"$ref": "#/$defs/t"}), "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/u"}}}}
    chain["$defs"]["u"] = obj(b=obj())
    assert counted(chain, "depth") == 4
    assert counted(obj(a={"$ref": "#"}), "depth") == 1
    mutual = {"t": obj(u={"$ref": "#/$defs/u"}), "u": {"type": "array", "items": {"$ref": "#/$defs/t"}}}
    assert counted({**obj(a={"$ref": "#/$defs/t"}), "$defs": mutual}, "depth") == 2


def test_what_the_dialect_refuses_is_not_looked_into():
    schema = obj(a={"oneOf": [obj(b=TEXT), obj(c=TEXT)]})
    assert counted(schema, "properties", "openai") == 1
    assert counted({"type": "object", "allOf": [obj(b=TEXT)]}, "properties", "anthropic") == 1


@pytest.mark.parametrize("schema", [None, True, 3, "text", [], [{}], {"properties": []}, {"properties": {"a": 3}}])
def test_what_is_no_schema_counts_next_to_nothing(schema):
    measured = measure(schema, load("openai"))
    assert measured["depth"] in (0, 1)
    assert measured["optional"] == measured["properties"]
