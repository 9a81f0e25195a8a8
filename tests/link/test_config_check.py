"""What a configuration may not say: each problem with its path, its line, and what is allowed there."""

from __future__ import annotations

import json
import tomllib

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strictcall.errors import ConfigError, ConfigProblem
from strictcall.link.catalog import read_catalog
from strictcall.link.config import PolicySettings, RetrySettings, TimeoutSettings
from strictcall.link.config_schema import config_schema
from strictcall.link.configuration import read_configuration
from strictcall.link.explain import notes
from strictcall.link.resolve import resolve
from strictcall.link.resolved import APIS, SUPPORTS, Timeouts
from strictcall.link.retry import Retries
from strictcall.policy import policy_values

CATALOG = read_catalog()
LOCAL = '[[providers]]\nid = "local"\nbase_url = "http://localhost:1/v1"\n'
MODEL = LOCAL + '[[providers.models]]\nid = "m"\n'
EVERYTHING = (
    """
strict_tools = false
tagged = "auto"
max_output_tokens = 100
max_tool_output = 2000
max_parallel_tool_calls = 3
headers = { X-Team = "a" }
extra_body = { seed = 1, deep = { a = [1, { b = true }] } }
timeouts = { connect = 1, read = 2.5, total = 0 }
retries = { attempts = 2, first_wait = 0.1, longest_wait = 5, within = 60 }
[policy]
fidelity = "exact"
open_objects = "carry"
free_form = "json_text"
nulls = "distinguish"
implied_types = false
formats = "assert"
hints = false
"""
    + LOCAL
    + """
api = "responses"
dialect = "openai"
api_key_env = ""
tagged = "hermes"
[[providers.models]]
id = "team/model:7b"
api = "chat_completions"
dialect = "vllm"
supports_tools = "strict"
strict_tools = true
dialect_overrides = { parallel_with_strict = false }
[tools."github.create_issue"]
strict = false
policy.nulls = "fold"
[fallback]
chain = ["local/team/model:7b", "openai/gpt-4o"]
"""
)


@pytest.fixture
def problems(tmp_path):
    """The problems of a configuration, by path."""

    def found(text, name="strictcall.toml"):
        path = tmp_path / name
        path.write_text(text)
        return {problem.path: problem for problem in either(path)[1]}

    return found


@pytest.mark.parametrize(
    ("text", "path", "line", "words"),
    [
        ("strict_tools = 1", "strict_tools", 1, "must be true or false"),
        ("\nstrict_tool = true", "strict_tool", 2, "unknown key; did you mean strict_tools?"),
        ("[[fallbacks]]", "fallbacks", 1, "unknown key; did you mean fallback?"),
        ("providers = 3", "providers", 1, "must be a list"),
        ("providers = [3]", "providers[0]", 1, "must be a table"),
        ("[[providers]]\nbase_url = 'http://x'", "providers[0].id", 1, "missing"),
        (LOCAL + 'api = "chat"', "providers[0].api", 4, '"chat" is not one of ' + ", ".join(APIS)),
        (MODEL + 'supports_tools = "all"', "providers[0].models[0].supports_tools", 6, ", ".join(SUPPORTS)),
        (MODEL + "supports_tools = true", "providers[0].models[0].supports_tools", 6, "true is not one of none, basic"),
        (MODEL + 'policy.nulls = "drop"', "providers[0].models[0].policy.nulls", 6, "auto, fold, distinguish"),
        (MODEL + "policy.null = 1", "providers[0].models[0].policy.null", 6, "did you mean nulls?"),
        (MODEL + 'dialect = "opnai"', "providers[0].models[0].dialect", 6, "did you mean 'openai'"),
        (LOCAL + 'dialect = "zzz"', "providers[0].dialect", 4, "known are anthropic, azure-openai"),
        (LOCAL + 'tagged = "hermess"', "providers[0].tagged", 4, "did you mean 'hermes'?"),
        (LOCAL + 'dialect_overrides.optional = "no"', "providers[0].dialect_overrides.optional", 4, "'absent', 'null'"),
        (LOCAL + "dialect_overrides.x = 1", "providers[0].dialect_overrides.x", 4, "unknown key; known are title"),
        (MODEL + "[providers.models.dialect_overrides.keywords.pattern]\nstate = 'no'",
         "providers[0].models[0].dialect_overrides.keywords.pattern.source", 6, "missing"),
        ("[[providers]]\nid = 'a/b'\nbase_url = 'http://x'", "providers[0].id", 2, "no blank and no slash"),
        ("[[providers]]\nid = 'mine'", "providers[0].base_url", 1, "the catalog knows no provider called 'mine'"),
        ("[[providers]]\nid = 'azure'", "providers[0].base_url", 1, "your own resource's address"),
        (LOCAL + "[[providers]]\nid = 'local'\nbase_url = 'http://x'", "providers[1].id", 5, "'local' is given twice"),
        (MODEL + "[[providers.models]]\nid = 'm'", "providers[0].models[1].id", 7, "'m' is given twice"),
        (LOCAL + "base_ulr = 'http://x'", "providers[0].base_ulr", 4, "did you mean base_url?"),
        (LOCAL.replace("http://", ""), "providers[0].base_url", 3, "begins with http:// or https://"),
        (LOCAL.replace("localhost", "u:secret@localhost"), "providers[0].base_url", 3, "without a password"),
        (LOCAL.replace("/v1", "/v1?key=secret"), "providers[0].base_url", 3, "query"),
        (LOCAL + "api_key = 'secret'", "providers[0].api_key", 4, "name the environment variable"),
        (LOCAL + "apiKey = 'secret'", "providers[0].apiKey", 4, "name the environment variable"),
        (LOCAL + "api_key_env = 'sk-secret'", "providers[0].api_key_env", 4, "name of an environment variable"),
        (LOCAL + "headers = { 'a b' = 'secret' }", 'providers[0].headers."a b"', 4, "a header cannot be called 'a b'"),
        (LOCAL + "headers = { a = 'sec\\nret' }".replace("'sec\\nret'", '"sec\\nret"'), "providers[0].headers.a", 4,
         "holds characters that a header cannot"),
        (LOCAL + "headers = { a = 3 }", "providers[0].headers.a", 4, "must be a text"),
        (LOCAL + "extra_body = { tools = [] }", "providers[0].extra_body.tools", 4, "a request says this itself"),
        (LOCAL + "extra_body = 3", "providers[0].extra_body", 4, "must be a table"),
        ("max_output_tokens = 0", "max_output_tokens", 1, "must be 1 or more"),
        ("max_output_tokens = 1.5", "max_output_tokens", 1, "must be a whole number"),
        ("max_output_tokens = true", "max_output_tokens", 1, "must be a whole number"),
        ("max_tool_output = 100", "max_tool_output", 1, "must be 200 or more"),
        ("timeouts.read = -1", "timeouts.read", 1, "must be 0 or more"),
        ("timeouts.reading = 1", "timeouts.reading", 1, "known are connect, read, total"),
        ("timeouts.read = 'soon'", "timeouts.read", 1, "must be a number"),
        ("retries.attempts = 0", "retries.attempts", 1, "must be 1 or more"),
        ("tools.x.strict = 'no'", "tools.x.strict", 1, "must be true or false"),
        ('tools."a.b".stric = true', 'tools."a.b".stric', 1, "unknown key; did you mean strict?"),
        ("fallback.chain = 'openai/x'", "fallback.chain", 1, "must be a list"),
        ("fallback.chain = [\n'openai/x',\n'gpt-4o']", "fallback.chain[1]", 3, "a link is written provider/model"),
        ("fallback.chain = ['openai/']", "fallback.chain[0]", 1, "a link is written provider/model"),
        ("fallback.chain = ['opnai/x']", "fallback.chain[0]", 1, "did you mean 'openai'"),
        ("fallback.chain = ['openai/x',\n'openai/x']", "fallback.chain[1]", 2, "'openai/x' is given twice"),
        (MODEL + "supports_tools = 'basic'\nstrict_tools = true", "providers[0].models[0].strict_tools", 7,
         "strict tools need supports_tools"),
    ],
)  # fmt: skip
def test_a_problem_has_its_path_its_line_and_what_is_allowed(problems, text, path, line, words):
    found = problems(text)
    assert list(found) == [path]
    assert found[path].line == line
    assert words in found[path].problem
    assert "secret" not in str(found[path])


def test_all_problems_are_told_in_the_order_of_the_file(problems):
    found = problems("strict_tools = 1\n[policy]\nnulls = 'x'\nhints = 2\n[fallback]\nchain = 'x'\n")
    assert [(problem.line, path) for path, problem in found.items()] == [
        (1, "strict_tools"), (3, "policy.nulls"), (4, "policy.hints"), (6, "fallback.chain"),
    ]  # fmt: skip


def test_an_error_is_one_line_and_says_how_many_more():
    error = ConfigError("f.toml", [ConfigProblem("a", 1, "wrong"), ConfigProblem("", 0, "also wrong")])
    assert str(error) == "f.toml:1: a: wrong (and 1 more)"
    assert error.lines() == ["f.toml:1: a: wrong", "f.toml: also wrong"]


@pytest.mark.parametrize("suffix", [".toml", ".json", ".yaml"])
def test_the_three_formats_say_the_same(tmp_path, suffix):
    value = tomllib.loads(EVERYTHING)
    text = EVERYTHING if suffix == ".toml" else json.dumps(value, indent=2)  # JSON is YAML
    first, second = tmp_path / "first.toml", tmp_path / f"second{suffix}"
    first.write_text(EVERYTHING)
    second.write_text(text)
    assert read_configuration(first, CATALOG).config == read_configuration(second, CATALOG).config


def test_null_says_nothing(tmp_path):
    path = tmp_path / "c.json"
    path.write_text('{"strict_tools": null, "policy": {"nulls": null}, "tools": {"x": {"strict": null}}}')
    assert read_configuration(path, CATALOG).config.strict_tools is None


def test_a_configuration_never_changes_and_shows_no_header(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(LOCAL + "headers = { Authorization = 'Bearer secret' }\nextra_body = { token = 'secret' }\n")
    config = read_configuration(path, CATALOG)
    assert "secret" not in repr(config)
    with pytest.raises(ValueError, match="frozen"):
        config.config.strict_tools = True


# --- the published schema -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def schema():
    found = config_schema()
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def test_the_schema_takes_what_the_check_takes(schema, problems):
    assert problems(EVERYTHING) == {}
    schema.validate(tomllib.loads(EVERYTHING))
    schema.validate({})


@pytest.mark.parametrize(
    "text",
    [
        "strict_tools = 1",
        "strict_tool = true",
        LOCAL + 'api = "chat"',
        LOCAL + 'dialect = "opnai"',
        LOCAL + 'tagged = "hermess"',
        MODEL + 'supports_tools = "all"',
        LOCAL + "api_key_env = 'sk-secret'",
        LOCAL.replace("local", "lo cal"),
        LOCAL.replace("localhost", "u:p@localhost"),
        "max_output_tokens = 0",
        "timeouts.read = -1",
        "tools.x.policy.nulls = 'x'",
        "fallback.chain = 'x'",
    ],
)
def test_the_schema_refuses_what_the_check_refuses(schema, problems, text):
    assert problems(text)
    assert not schema.is_valid(tomllib.loads(text))


def test_the_schema_says_what_every_key_means():
    for name, definition in config_schema()["$defs"].items():
        for key, field in definition.get("properties", {}).items():
            assert field.get("description"), (name, key)


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def changed(value, path, new):
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.sampled_from([10**400, "openai/x", "strict", "auto", "vllm", "http://x"]),
    lambda below: st.lists(below, max_size=2)
    | st.dictionaries(st.sampled_from(["id", "policy", "nulls", "x", ""]), below, max_size=2),
    max_leaves=4,
)  # fmt: skip


def either(file):
    """A configuration, or what is wrong with it."""
    try:
        return read_configuration(file, CATALOG), ()
    except ConfigError as error:
        return None, error.problems


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(places(tomllib.loads(EVERYTHING)), key=str)), ANYTHING)
def test_whatever_stands_somewhere_is_right_or_a_problem_and_what_is_right_fits_the_schema(tmp_path, schema, path, new):
    value = changed(tomllib.loads(EVERYTHING), path, new)
    file = tmp_path / "c.json"
    file.write_text(json.dumps(value, indent=1))
    read, problems = either(file)
    assert all(problem.problem and "\n" not in str(problem) for problem in problems)
    if read is None:
        return
    schema.validate(value)
    for provider in read.config.providers:
        link = resolve(f"{provider.id}/m", read, CATALOG)
        assert all(origin.line for origin in link.origins.values() if origin.source == str(file))


@pytest.mark.parametrize("depth", [200, 300, 5_000])
@pytest.mark.parametrize(
    ("name", "text"),
    [("c.json", '{"extra_body": {"a": X}}'), ("c.toml", "extra_body.a = X"), ("c.yaml", "extra_body: {a: X}")],
)
def test_what_nests_too_deep_is_a_problem(problems, name, text, depth):
    (problem,) = problems(text.replace("X", "[" * depth + "]" * depth), name).values()
    assert "too deep" in problem.problem
    assert problems(text.replace("X", "[" * 50 + "]" * 50), name) == {}


def test_aliases_that_come_to_more_than_can_be_written_out_are_a_problem(problems):
    bomb = "a0: &a0 [1, 1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))
    assert "more than 1,000,000 nodes" in problems(bomb, "c.yaml")[""].problem


# --- what is declared twice agrees ------------------------------------------------------------------------------------


def test_a_policy_can_be_set_field_by_field_to_every_value(problems):
    values = policy_values()
    assert set(PolicySettings.model_fields) == set(values)
    for field, allowed in values.items():
        for value in allowed:
            assert problems(json.dumps({"policy": {field: value}}), "c.json") == {}


def test_times_are_those_that_links_and_retries_have():
    assert set(TimeoutSettings.model_fields) == set(Timeouts.__dataclass_fields__)
    assert set(RetrySettings.model_fields) == set(Retries.__dataclass_fields__)


# --- notes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "environment", "path", "line", "words"),
    [
        (MODEL + "[fallback]\nchain = ['local/n']", {}, "fallback.chain[0]", 7, "taken as basic"),
        ("strict_tools = true\n" + MODEL, {}, "providers[0].models[0].supports_tools", 5, "none is strict on local/m"),
        ("[[providers]]\nid = 'openai'", {}, "providers[0].api_key_env", 1, "OPENAI_API_KEY is not set"),
        (LOCAL + "api_key_env = 'MINE'", {"OTHER": ""}, "providers[0].api_key_env", 4, "MINE is not set"),
        (MODEL + "headers.X = '${NO_SUCH_VARIABLE}'", {}, "providers[0].models[0].headers.X", 6, "is not set; set it"),
        (MODEL + "dialect = 'inception'\nsupports_tools = 'strict'", {}, "providers[0].models[0].supports_tools", 7,
         "strictcall probe finds out"),
    ],
)  # fmt: skip
def test_what_may_not_be_meant_is_noted(tmp_path, text, environment, path, line, words):
    file = tmp_path / "c.toml"
    file.write_text(text)
    (note,) = notes(read_configuration(file, CATALOG), CATALOG, environment)
    assert (note.path, note.line) == (path, line)
    assert words in note.problem


def test_there_is_nothing_to_note_of_a_configuration_that_says_what_it_means(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text(EVERYTHING)
    assert notes(read_configuration(file, CATALOG), CATALOG, {"OPENAI_API_KEY": "x"}) == []
