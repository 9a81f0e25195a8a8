"""From a link's name to what was decided: the nearest wins, then the catalog, then a default; who decided is known."""

from __future__ import annotations

import pytest

from strictcall import Policy, Tool, Toolset
from strictcall.api import chat_completions
from strictcall.dialect.registry import load
from strictcall.errors import ConfigError
from strictcall.link.catalog import read_catalog
from strictcall.link.configuration import NOTHING, read_configuration, split_link
from strictcall.link.explain import HIDDEN, explain_link, explain_tool
from strictcall.link.resolve import DIALECTS, resolve
from strictcall.link.resolved import APIS, Timeouts, ToolRules

CATALOG = read_catalog()
FILE = """\
max_output_tokens = 1
strict_tools = true
policy = { nulls = "fold", hints = false }
headers = { X-Top = "top", X-Any = "top" }
extra_body = { top = 1, any = { a = 1 } }
timeouts = { connect = 1, read = 2 }

[[providers]]
id = "local"
base_url = "http://localhost:1/v1"
dialect = "vllm"
max_output_tokens = 2
policy = { formats = "assert" }
headers = { x-any = "provider" }
extra_body = { any = { b = 2 } }
timeouts = { read = 0 }

[[providers.models]]
id = "full"
supports_tools = "strict"
max_output_tokens = 3
policy = { nulls = "distinguish" }
headers = { X-ANY = "model" }

[[providers.models]]
id = "off"
supports_tools = "strict"
strict_tools = false

[[providers.models]]
id = "basic"

[tools."github.create_issue"]
strict = false
[tools.wanted]
strict = true
[tools.other]
policy = { nulls = "auto" }
"""


@pytest.fixture
def configured(tmp_path):
    """Resolve a link under a configuration."""
    path = tmp_path / "strictcall.toml"

    def resolved(link, text=FILE):
        path.write_text(text)
        return resolve(link, read_configuration(path, CATALOG), CATALOG)

    return resolved


@pytest.mark.parametrize(
    ("link", "provider", "model"),
    [
        ("openai/gpt-4o", "openai", "gpt-4o"),
        ("openrouter/anthropic/claude-sonnet-4.5:beta", "openrouter", "anthropic/claude-sonnet-4.5:beta"),
        ("a//b", "a", "/b"),
    ],
)
def test_a_link_is_split_at_the_first_slash(link, provider, model):
    assert split_link(link) == (provider, model)


@pytest.mark.parametrize("link", ["gpt-4o", "/gpt-4o", "openai/", "openai/ ", ""])
def test_what_is_no_link_is_refused(link):
    with pytest.raises(ConfigError, match="a link is written provider/model"):
        split_link(link)


@pytest.mark.parametrize(
    ("link", "setting", "value", "line"),
    [
        ("local/full", "max_output_tokens", 3, 21),
        ("local/off", "max_output_tokens", 2, 12),
        ("local/unlisted", "max_output_tokens", 2, 12),
        ("openai/gpt-4o", "max_output_tokens", 1, 1),
        ("local/full", "strict_tools", True, 2),
        ("local/off", "strict_tools", False, 28),
        ("local/full", "supports_tools", "strict", 20),
        ("local/full", "policy.nulls", "distinguish", 22),
        ("local/off", "policy.nulls", "fold", 3),
        ("local/full", "policy.formats", "assert", 13),
        ("openai/gpt-4o", "policy.formats", "annotate", None),
        ("local/full", "policy.hints", False, 3),
        ("local/full", "timeouts.connect", 1.0, 6),
        ("local/full", "timeouts.read", None, 16),
        ("local/full", "timeouts.total", Timeouts().total, None),
        ("openai/gpt-4o", "timeouts.read", 2.0, 6),
        ("local/full", "base_url", "http://localhost:1/v1", 10),
        ("local/full", "dialect", "vllm", 11),
        ("local/full", "api", "chat_completions", None),
    ],
)
def test_the_nearest_wins_and_its_line_is_known(configured, tmp_path, link, setting, value, line):
    decided = {each.setting: each for each in explain_link(configured(link))}[setting]
    assert decided.value == value
    assert decided.origin.line == line
    assert decided.origin.source == (str(tmp_path / "strictcall.toml") if line else "default")


def test_tables_are_decided_key_by_key(configured):
    link = configured("local/full")
    assert link.policy == Policy(nulls="distinguish", formats="assert", hints=False)
    assert link.timeouts == Timeouts(1.0, None, Timeouts().total)
    # A header's name has no case, and a field of the body is taken whole.
    assert dict(link.headers) == {"X-Top": "top", "X-ANY": "model"}
    assert dict(link.extra_body) == {"top": 1, "any": {"b": 2}}
    assert dict(configured("local/off").headers) == {"X-Top": "top", "x-any": "provider"}


@pytest.mark.parametrize(
    ("link", "tool", "strict", "line"),
    [
        ("local/full", "wanted", True, 36),
        ("local/full", "github.create_issue", False, 34),
        ("local/full", "unheard", True, 2),
        ("local/full", "other", True, 2),
        ("local/off", "unheard", False, 28),
        ("local/off", "wanted", True, 36),
        # Whatever is wanted of a model that cannot: nothing is strict, and that is what decided.
        ("local/basic", "wanted", False, None),
        ("local/basic", "unheard", False, None),
    ],
)
def test_a_tool_is_strict_where_the_nearest_says_so_and_the_model_can(configured, link, tool, strict, line):
    resolved = configured(link)
    decided = explain_tool(resolved, tool)[0]
    assert (decided.setting, decided.value, decided.origin.line) == ("strict", strict, line)
    assert resolved.rules(tool).strict is strict


def test_a_tools_policy_is_laid_over_that_of_its_link(configured):
    link = configured("local/full")
    assert link.rules("other") == ToolRules(strict=True, policy=Policy(nulls="auto", formats="assert", hints=False))
    lines = {each.setting: each.origin.line for each in explain_tool(link, "other")}
    assert (lines["policy.nulls"], lines["policy.formats"], lines["policy.hints"]) == (38, 13, 3)


# --- defaults and the catalog -----------------------------------------------------------------------------------------


def test_without_a_file_the_catalog_says_how_a_provider_is_reached():
    link = resolve("deepseek/deepseek-v4-pro", NOTHING, CATALOG)
    assert (link.api, link.dialect, link.base_url, link.api_key_env) == (
        "chat_completions", load("deepseek"), "https://api.deepseek.com/beta", "DEEPSEEK_API_KEY",
    )  # fmt: skip
    assert link.supports_tools == "strict"
    assert link.strict_tools is True
    assert "api-docs.deepseek.com" in link.origins["supports_tools"].source


def test_a_model_that_nobody_wrote_down_is_basic():
    link = resolve("deepseek/deepseek-v9", NOTHING, CATALOG)
    assert (link.supports_tools, link.strict_tools) == ("basic", False)
    assert link.origins["supports_tools"].source == "default"


def test_the_users_word_goes_before_the_catalogs(configured):
    text = '[[providers]]\nid = "openai"\n[[providers.models]]\nid = "gpt-4o"\nsupports_tools = "parallel"\n'
    link = configured("openai/gpt-4o", text)
    assert (link.supports_tools, link.strict_tools, link.origins["supports_tools"].line) == ("parallel", False, 5)
    assert configured("openai/gpt-4o-mini", text).supports_tools == "strict"


def test_what_is_known_of_a_providers_models_is_not_said_of_another_address(configured):
    text = '[[providers]]\nid = "openai"\nbase_url = "http://localhost:1/v1"\n'
    link = configured("openai/gpt-4o", text)
    assert (link.supports_tools, link.dialect.name) == ("basic", "openai")
    assert configured("openai/gpt-4o", '[[providers]]\nid = "openai"\n').supports_tools == "strict"


def test_a_catalog_entry_may_know_a_models_own_dialect():
    assert resolve("openai/ft:gpt-4o-2024-08-06:me::x", NOTHING, CATALOG).dialect.name == "openai-finetuned"


@pytest.mark.parametrize("api", APIS)
def test_an_unknown_provider_has_the_dialect_of_its_api(configured, api):
    text = f'[[providers]]\nid = "mine"\napi = "{api}"\nbase_url = "http://localhost:1/v1"\n'
    link = configured("mine/m", text)
    assert (link.api, link.dialect.name, link.api_key_env) == (api, DIALECTS[api], None)
    assert link.supports_tools == "basic"


def test_an_empty_name_of_a_key_means_none(configured):
    assert configured("openai/gpt-4o", '[[providers]]\nid = "openai"\napi_key_env = ""').api_key_env is None


def test_calls_written_as_text_can_be_turned_off_nearer(configured):
    text = 'tagged = "hermes"\n[[providers]]\nid = "openai"\n[[providers.models]]\nid = "m"\ntagged = "none"\n'
    assert configured("openai/m", text).tagged is None
    assert configured("openai/n", text).tagged == "hermes"


def test_where_nothing_is_said_of_calls_as_text_the_dialect_decides(configured):
    provider = '[[providers]]\nid = "mine"\nbase_url = "http://localhost:1/v1"\ndialect = "vllm"\n'
    link = configured("mine/m", provider)
    assert link.tagged == "auto"
    assert link.origins["tagged"].source == "default, as the dialect is vllm"
    assert configured("mine/m", f'{provider}tagged = "none"\n').tagged is None
    assert configured("mine/m", f'{provider}dialect_overrides = {{ tagged = {{ format = "none" }} }}\n').tagged is None


@pytest.mark.parametrize(("link", "words"), [("opnai/x", "did you mean 'openai'"), ("zzzzz/x", "there are openai")])
def test_an_unknown_provider_is_named_with_those_that_are_near(link, words):
    with pytest.raises(ConfigError, match=words):
        resolve(link, NOTHING, CATALOG)


# --- dialects ---------------------------------------------------------------------------------------------------------


def test_overrides_are_laid_over_the_dialect_of_their_level_or_further_up(configured):
    text = """
[[providers]]
id = "local"
base_url = "http://localhost:1/v1"
dialect = "openai"
dialect_overrides = { parallel_with_strict = false, keywords = { pattern = false } }
[[providers.models]]
id = "a"
[[providers.models]]
id = "b"
dialect_overrides = { parallel_with_strict = true }
[[providers.models]]
id = "c"
dialect = "vllm"
"""
    shipped = load("openai")
    a, b, c = (configured(f"local/{model}", text).dialect for model in "abc")
    assert shipped.parallel_with_strict
    assert "pattern" in shipped.keywords
    assert not a.parallel_with_strict
    assert "pattern" not in a.keywords
    assert b.parallel_with_strict
    assert "pattern" not in b.keywords
    assert c == load("vllm")  # another dialect: what differs from the first says nothing of it
    assert a.name != shipped.name
    assert configured("local/a", text).dialect is a  # built once: tools are compiled for it at every inference


STRICT_BY_HAND = """
[[providers]]
id = "inception"
[[providers.models]]
id = "mercury-2.5"
supports_tools = "strict"
"""
TOOL = Tool("search", None, {"type": "object", "properties": {"q": {"type": "string"}}})


def test_strict_by_hand_reaches_the_wire_though_the_dialects_sources_know_of_no_strict(configured):
    assert load("inception").strict_place == "none"
    link = configured("inception/mercury-2.5", STRICT_BY_HAND)
    body = chat_completions.write({"model": link.model, "messages": []}, Toolset([TOOL], link.dialect, link.policy))
    assert body["tools"][0]["function"]["strict"] is True
    decided = {each.setting: each for each in explain_link(link)}
    assert (decided["dialect.enforced"].value, decided["dialect.enforced"].origin.line) == ("decoder", 6)


@pytest.mark.parametrize("supports", ["none", "basic", "parallel", None])
def test_a_dialect_stays_as_it_is_where_nobody_says_that_the_model_is_strict(configured, supports):
    said = f'supports_tools = "{supports}"' if supports else ""
    link = configured("inception/mercury-2.5", STRICT_BY_HAND.replace('supports_tools = "strict"', said))
    assert link.dialect is load("inception")


# --- headers ----------------------------------------------------------------------------------------------------------


def test_a_header_takes_variables_from_the_environment(configured, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "secret")
    link = configured("openai/gpt-4o", 'headers = { A = "Bearer ${MY_TOKEN}", B = "${NOT_SET:-none}" }')
    assert dict(link.headers) == {"A": "Bearer secret", "B": "none"}
    assert "secret" not in repr(link)
    assert {each.value for each in explain_link(link) if each.setting.startswith("headers.")} == {HIDDEN}


def test_a_header_without_its_variable_is_an_error_that_names_both(configured, monkeypatch):
    monkeypatch.delenv("MY_TOKEN", raising=False)
    with pytest.raises(ConfigError, match=r"strictcall.toml:2: headers.A: .*MY_TOKEN is not set"):
        configured("openai/gpt-4o", '\nheaders = { A = "Bearer ${MY_TOKEN}" }')


def test_fields_of_the_body_are_not_shown(configured):
    link = configured("openai/gpt-4o", 'extra_body = { token = "secret" }')
    assert "secret" not in repr(link)
    assert {each.setting: each.value for each in explain_link(link)}["extra_body.token"] == HIDDEN
