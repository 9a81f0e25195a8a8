"""What sets each dialect apart: a schema of a strict tool, and the rules that refuse it."""

import pytest

from strictcall.dialect import dialects, judge, judge_name, load

TEXT = {"type": "string"}
NULLABLE = {"anyOf": [TEXT, {"type": "null"}]}


def closed(required=None, **properties):
    names = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def open_to(rest, **properties):
    return {**closed(**properties), "additionalProperties": rest}


def plain(required=None, **properties):
    return {key: value for key, value in closed(required, **properties).items() if key != "additionalProperties"}


def rules(schema, dialect, **options):
    return sorted({violation.rule for violation in judge(schema, dialect, **options)})


def recursive(required):
    node = closed(required, next={"$ref": "#/$defs/node"})
    return {**closed(first={"$ref": "#/$defs/node"}), "$defs": {"node": node}}


PORTABLE = closed(
    a=TEXT, b=NULLABLE, c=closed(d={"type": "array", "items": {"type": "integer"}}), e={**TEXT, "enum": ["x"]}
)
"""What every provider is said to take."""


@pytest.mark.parametrize("dialect", [dialect.name for dialect in dialects()])
def test_one_schema_is_taken_everywhere(dialect):
    if load(dialect).state("additionalProperties") == "rejected":
        assert rules(PORTABLE, dialect) == ["keyword-rejected"]
        plainer = plain(a=TEXT, b=NULLABLE, c=plain(d={"type": "array", "items": {"type": "integer"}}))
        assert rules(plainer, dialect, silent=True) == []
    else:
        assert rules(PORTABLE, dialect, silent=True) == []


@pytest.mark.parametrize("dialect", [dialect.name for dialect in dialects()])
def test_a_root_that_is_no_object_is_taken_nowhere(dialect):
    for target in ("tool", "output"):
        assert "root-not-object" in rules({"type": "array", "items": TEXT}, load(dialect, target))


ROWS = [
    ("azure-openai", closed(a={"type": "integer", "minimum": 1}), ["keyword-rejected"]),
    ("azure-openai", closed(a={**TEXT, "format": "date"}), ["keyword-rejected"]),
    ("azure-openai", closed(**{f"p{number}": TEXT for number in range(101)}), ["limit-properties"]),
    ("azure-openai", closed(a={"anyOf": [closed(k=TEXT), closed(k={"type": "integer"})]}), ["first-key-shared"]),
    ("openai-finetuned", closed(a={**TEXT, "pattern": "a"}), ["keyword-rejected"]),
    ("openai-finetuned", closed(a={"type": "array", "items": TEXT, "minItems": 1}), ["keyword-rejected"]),
    ("openai-finetuned", recursive(None), []),
    ("bedrock-anthropic", closed(a={**TEXT, "minLength": 1}), []),
    ("bedrock-anthropic", closed(a={"type": "integer", "exclusiveMaximum": 1}), ["keyword-rejected"]),
    ("bedrock-anthropic", closed([], a=TEXT), []),
    ("bedrock-nova", {**closed(a={"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}}, ["keyword-rejected", "root-keyword"]),
    ("deepseek", closed(a={"type": ["array", "null"], "items": TEXT}), ["type-list"]),
    ("deepseek", closed(a={"type": ["string", "null"]}), []),
    ("deepseek", closed(a=TEXT | {"maxLength": 3}), ["keyword-rejected"]),
    ("deepseek", closed(a=TEXT | {"format": "date"}), ["format-unknown"]),
    ("deepseek", closed(a=TEXT | {"default": "b", "pattern": "^a"}), []),
    ("deepseek", closed([], a=TEXT), ["required-missing"]),
    ("deepseek", closed(a=open_to(TEXT, b=TEXT)), ["additional-open"]),
    ("deepseek", closed(a=closed()), ["object-empty"]),
    ("deepseek", recursive(None), []),
    ("kimi", plain(a=TEXT), []),
    ("kimi", open_to(TEXT, a=TEXT), []),
    ("kimi", recursive([]), []),
    ("kimi", recursive(None), []),
    ("kimi", closed(a={**TEXT, "const": "b"}), ["keyword-rejected"]),
    ("kimi", closed(a={**TEXT, "enum": ["b", ""]}), ["literal-empty"]),
    ("kimi", closed(a={"type": "integer", "maxLength": 3}), ["keyword-stray"]),
    ("kimi", closed(a={"anyOf": [TEXT], "type": "string"}), ["union-siblings"]),
    ("kimi", closed(a={"anyOf": [TEXT], "description": "b"}), []),
    ("kimi", closed(a={"type": ["string", "null"], "maxLength": 3}), ["list-siblings"]),
    ("kimi", closed(required=TEXT) | {"required": []}, []),
    ("kimi", {"type": "object", "properties": {"required": TEXT}, "required": []}, ["property-name"]),
    ("kimi", {**plain(a=TEXT), "required": ["a", "b"]}, ["required-unknown"]),
    ("kimi", {**plain(a={"$ref": "#/properties/b"}, b=TEXT)}, ["reference-target"]),
    ("gemini", plain(a={**TEXT, "nullable": True, "enum": ["b"]}), []),
    ("gemini", plain(a={"type": ["string", "null"]}), ["type-list"]),
    ("gemini", plain(a={"type": "integer", "enum": [1]}), ["literal-type"]),
    ("gemini", plain(a={"type": "integer", "enum": ["1"]}), ["literal-contradiction"]),
    ("gemini", plain(a={**TEXT, "format": "date"}), ["format-unknown"]),
    ("gemini", plain(a={"type": "integer", "format": "int64"}), []),
    ("gemini", plain(a={"type": "object"}), ["object-empty"]),
    ("gemini", plain(), []),
    ("gemini", plain(a={"anyOf": [TEXT, {"type": "null"}], "description": "b"}), ["union-siblings"]),
    ("gemini", {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}, []),
    ("gemini", plain(**{f"p{number}": {"type": "array", "items": TEXT, "maxItems": 30} for number in range(4)}),
     ["limit-item-bounds"]),
    ("gemini-json", open_to({"type": "integer"}, a={"type": ["string", "null"]}), []),
    ("gemini-json", closed(a={"type": "array", "prefixItems": [TEXT], "minItems": 1, "maxItems": 1}), []),
    ("gemini-json", closed(a={"type": "number", "enum": [1, 2.5]}), []),
    ("gemini-json", closed(a={"type": "boolean", "enum": [True]}), ["literal-type"]),
    ("gemini-json", recursive([]), []),
    ("gemini-json", recursive(None), ["recursion"]),
    ("gemini-json", closed(a={**TEXT, "enum": [""]}), ["literal-empty"]),
    ("groq", closed([], a=TEXT), ["required-missing"]),
    ("groq", plain(a=TEXT), ["additional-open"]),
    ("groq", closed(a={"type": ["string", "null"]}), []),
    ("groq", closed(a={"type": "array", "items": TEXT, "minItems": 1}), ["keyword-rejected"]),
    ("cerebras", closed([], a={"type": ["string", "null"]}), []),
    ("cerebras", closed(a={"type": "array", "items": True}), ["boolean-schema"]),
    ("cerebras", closed(a={"anyOf": [{**TEXT, "description": str(number)} for number in range(6)]}),
     ["limit-union-branches"]),
    ("cerebras", closed(a={**TEXT, "description": "b" * 5_000}), ["limit-characters"]),
    ("cerebras", recursive(None), ["recursion"]),
    ("xai", plain([], a={"oneOf": [TEXT]}), []),
    ("xai", open_to(True, a={**TEXT, "maxLength": 5_000, "format": "regex"}), []),
    ("xai", closed(a={"type": "array", "items": TEXT, "minContains": 1}), ["keyword-rejected"]),
    ("xai", closed(a=True), ["boolean-schema"]),
    ("xai", closed(a={"type": ["string", "null"], "enum": ["b", None]}), ["literal-type"]),
    ("xai", {"anyOf": [closed(a=TEXT), closed(b=TEXT)]}, []),
    ("xai", {"anyOf": [closed(a=TEXT), TEXT]}, ["root-not-object"]),
    ("xai", closed(a={**TEXT, "pattern": r"\p{L}"}), ["regex-construct"]),
    ("xai", recursive(None), ["recursion"]),
    ("cohere", closed([], a=TEXT), ["required-none"]),
    ("cohere", closed(["a"], a={**TEXT, "const": "b"}, b=TEXT), []),
    ("cohere", closed(a={**TEXT, "pattern": "^a"}), ["regex-construct"]),
    ("cohere", closed(a={**TEXT, "pattern": r"a\^[$]"}), []),
    ("cohere", closed(a={"type": "array"}), []),
    ("cohere", closed(a={"type": "integer", "minimum": 1}), ["keyword-rejected"]),
    ("mistral", plain([], a={**TEXT, "minLength": 1, "pattern": "a"}), []),
    ("fireworks", plain(a={"enum": ["b", None]}), ["literal-type"]),
    ("fireworks", plain(a={"anyOf": [{"required": ["b"]}, TEXT]}), ["type-missing"]),
    ("vllm", plain(a={**TEXT, "pattern": "a", "minLength": 1}), ["keyword-conflict"]),
    ("vllm", plain(a={"type": "integer", "multipleOf": 2}), ["keyword-rejected"]),
    ("vllm", open_to(TEXT, a={**TEXT, "pattern": "a"}), []),
    ("vllm", recursive([]), []),
    ("sglang", plain(a={"type": "array", "uniqueItems": True}), ["keyword-rejected"]),
    ("tensorrt-llm", plain(a={"type": "array", "contains": TEXT}), ["keyword-rejected"]),
    ("llama.cpp", plain(a={**TEXT, "pattern": "a"}), ["pattern-unanchored"]),
    ("llama.cpp", plain(a={**TEXT, "pattern": "^[a-z]{2}\\.x$"}), []),
    ("llama.cpp", plain(a={**TEXT, "pattern": "^a\\!$"}), ["regex-construct"]),
    ("llama.cpp", plain(a={**TEXT, "pattern": "^a$|^b$"}), ["regex-construct"]),
    ("llama.cpp", plain(a={**TEXT, "maxLength": 2_000}), ["value-rejected"]),
    ("llama.cpp", plain(a={**TEXT, "maxLength": 1_999, "format": "uri"}), []),
    ("llama.cpp", plain(a={"not": {}}), ["type-missing"]),
    ("llama.cpp", plain(a={}, b={"type": "array", "uniqueItems": True}), []),
    ("lmstudio", plain(a={**TEXT, "pattern": "a"}), ["pattern-unanchored"]),
    ("lmstudio", {"type": "object"}, ["properties-missing"]),
    ("kimi", {"type": "object"}, ["required-absent"]),
    ("kimi", {**plain(a={"$ref": "#/$defs/t", "description": "b"}), "$defs": {"t": TEXT}}, ["reference-siblings"]),
    ("localai", closed([], a={**TEXT, "minLength": 3}), []),
    ("localai", recursive(None), ["recursion"]),
    ("openrouter", plain([], a={**TEXT, "minLength": 3}, b=plain()), []),
    ("inception", {"type": "string"}, ["root-not-object"]),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "schema", "refused"), ROWS)
def test_strict(dialect, schema, refused):
    assert rules(schema, dialect) == refused


LOOSE = [
    ("groq", {"type": "object", "required": []}, ["properties-missing"]),
    ("groq", {"type": "object"}, []),
    ("deepseek", {"type": "object", "oneOf": [plain(a=TEXT)]}, []),
    ("deepseek", {}, ["root-not-object"]),
    ("gemini", {**plain(a=TEXT), "$schema": "https://json-schema.org/draft/2020-12/schema"}, ["keyword-rejected"]),
    ("kimi", {"type": "object", "properties": {"a": {}}}, []),
    ("fireworks", plain(a={"type": ["string", "null"], "enum": ["b", None]}), ["literal-type"]),
    ("fireworks", plain(a={"title": "Page Size", "default": None}), ["type-missing"]),
    ("fireworks", plain(a={"anyOf": [TEXT, {"items": TEXT}]}), ["type-missing"]),
    ("vllm", plain(a={"type": "array", "uniqueItems": True}), ["keyword-rejected"]),
    ("mistral", plain(a={"type": "integer", "exclusiveMinimum": True}), ["not-a-schema"]),
    ("bedrock-nova", {**plain(a=TEXT), "definitions": {}}, ["root-keyword"]),
    ("bedrock-nova", plain(a={**TEXT, "title": "b", "maxLength": 3}), []),
    ("ollama", plain(a={**TEXT, "pattern": "a"}), []),
    ("ollama", {"type": "object", "properties": []}, ["not-a-schema"]),
    ("openrouter", {"properties": {}}, ["root-not-object"]),
    ("cerebras", plain(a={"type": "array"}), []),
]


@pytest.mark.parametrize(("dialect", "schema", "refused"), LOOSE)
def test_not_strict(dialect, schema, refused):
    assert rules(schema, dialect, strict=False) == refused


@pytest.mark.parametrize(
    ("dialect", "schema", "tool", "output"),
    [
        ("gemini", plain(a={**TEXT, "minLength": 1}), [], ["keyword-rejected"]),
        ("inception", closed(a={"type": "integer", "minimum": 1}), [], []),
    ],
)
def test_what_differs_for_structured_output(dialect, schema, tool, output):
    assert rules(schema, load(dialect)) == tool
    assert rules(schema, load(dialect, "output")) == output


@pytest.mark.parametrize(
    ("dialect", "name", "taken"),
    [
        ("gemini", "a.b:c-d_1", True),
        ("gemini", "1a", False),
        ("kimi", "ab", False),
        ("kimi", "abc", True),
        ("kimi", "1abc", False),
        ("qwen", "search", False),
        ("qwen", "research", True),
        ("bedrock-anthropic", "a.b", False),
        ("bedrock-anthropic", "my-tool", True),
        ("vllm", "any name", True),
    ],
)
def test_tool_names(dialect, name, taken):
    assert (judge_name(name, dialect) == []) is taken


def test_where_every_tool_must_be_strict_or_none():
    assert {dialect.name for dialect in dialects() if dialect.all_or_none} == {
        "cerebras",
        "cohere",
        "deepseek",
        "localai",
    }


def test_servers_that_hold_nothing_of_a_tool_say_so():
    unheld = {dialect.name for dialect in dialects() if dialect.enforced == "none"}
    assert unheld == {"bedrock-nova", "inception", "ollama", "qwen", "tensorrt-llm", "together"}
    assert {name for name in unheld if load(name, "output").enforced == "none"} == {"bedrock-nova"}


def test_which_providers_refuse_fields_that_they_do_not_know():
    assert {dialect.name for dialect in dialects() if dialect.unknown_fields == "rejected"} == {
        "anthropic",
        "azure-openai",
        "bedrock-anthropic",
        "bedrock-nova",
        "cerebras",
        "gemini",
        "gemini-json",
        "groq",
        "mistral",
        "openai",
        "openai-finetuned",
        "tensorrt-llm",
    }


def test_what_a_schema_is_written_in_and_where_output_has_no_place_beside_tools():
    assert {dialect.name for dialect in dialects() if dialect.schema_language == "openapi"} == {"gemini"}
    assert {dialect.name for dialect in dialects() if not dialect.output_beside_tools} == {"cerebras", "groq"}
    assert load("gemini", "output").schema_language == "openapi"
    assert not load("groq", "output").output_beside_tools


def test_calls_are_looked_for_in_text_where_a_source_says_that_servers_leave_them_there():
    """Only servers of open models are known to; a hosted API's own calls are all that it has."""
    formats = {dialect.name: dialect.tagged.format for dialect in dialects() if dialect.tagged.format != "none"}
    assert formats == dict.fromkeys(["lmstudio", "ollama", "sglang", "vllm"], "auto")
