"""The shipped catalog: nothing in it that nobody said, and nothing that could not be used."""

from __future__ import annotations

import re
from datetime import date

import pytest

from strictcall.dialect.registry import load
from strictcall.errors import ConfigError
from strictcall.link.catalog import read_catalog
from strictcall.link.configuration import NOTHING
from strictcall.link.resolve import resolve

CATALOG = read_catalog()
ROWS = [(provider, models) for provider in CATALOG.providers.values() for models in provider.models]
NAMES = [f"{provider.id}/{models.ids[0]}" for provider, models in ROWS]


@pytest.mark.parametrize("provider", CATALOG.providers.values(), ids=list(CATALOG.providers))
def test_a_provider_can_be_reached_as_it_is_written(provider):
    assert load(provider.dialect)
    assert provider.base_url is None or re.match(r"https://|http://localhost:\d+/", provider.base_url)
    assert provider.api_key_env is None or re.fullmatch(r"[A-Z_]+", provider.api_key_env)
    # Only an official client that has an address of its own needs none here.
    assert provider.base_url or provider.id in {"openai", "anthropic", "gemini", "bedrock", "azure"}


@pytest.mark.parametrize(("provider", "models"), ROWS, ids=NAMES)
def test_what_models_can_do_has_a_source_and_a_date(provider, models):
    assert models.source.startswith("https://")
    assert date(2026, 1, 1) <= date.fromisoformat(models.date) <= date(2026, 12, 31)
    if models.supports_tools == "strict":
        assert load(models.dialect or provider.dialect).enforced == "decoder"


def test_the_models_of_the_catalog_resolve_to_what_is_written():
    for provider, models in ROWS:
        for pattern in models.ids:
            link = resolve(f"{provider.id}/{pattern.replace('*', 'x')}", NOTHING, CATALOG)
            assert link.supports_tools == models.supports_tools
            assert link.strict_tools is (models.supports_tools == "strict")
            assert models.source in link.origins["supports_tools"].source


@pytest.mark.parametrize(
    ("link", "supports"),
    [
        ("openai/gpt-4o", "strict"),
        ("openai/gpt-4o-2024-05-13", "parallel"),
        ("openai/gpt-4", "basic"),
        ("openai/gpt-5-chat-latest", "basic"),
        ("anthropic/claude-sonnet-4-5-20250929", "strict"),
        ("anthropic/claude-3-5-sonnet-latest", "basic"),
        ("bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0", "strict"),
        ("bedrock/amazon.nova-pro-v1:0", "basic"),
        ("inception/mercury-2.5", "basic"),
        ("groq/openai/gpt-oss-20b", "basic"),
        ("ollama/qwen3", "basic"),
    ],
)
def test_strict_only_where_a_source_says_so(link, supports):
    assert resolve(link, NOTHING, CATALOG).supports_tools == supports


def test_a_catalog_of_ones_own_is_checked_like_any_file(tmp_path):
    path = tmp_path / "catalog.toml"
    path.write_text('[[providers]]\nid = "x"\ntitle = "X"\napi = "chat"\ndialect = "openai"\n')
    with pytest.raises(ConfigError, match=r'catalog.toml:4: providers\[0\].api: "chat" is not one of chat_completions'):
        read_catalog(path)
