"""What the documentation of the configuration shows is right, and nothing is left out of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from strictcall.dialect.registry import dialects
from strictcall.link.catalog import read_catalog
from strictcall.link.config import Config, Level, ModelEntry, ProviderEntry, RetrySettings
from strictcall.link.configuration import read_configuration
from strictcall.link.configured import ConfiguredLinks

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
LEVELS = {"top": Config, "provider": ProviderEntry, "model": ModelEntry}


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_is_right(tmp_path, text):
    path = tmp_path / "strictcall.toml"
    path.write_text(text)
    assert read_configuration(path, read_catalog()).config.providers


def test_the_example_says_what_the_page_says_of_it(tmp_path):
    path = tmp_path / "strictcall.toml"
    path.write_text(EXAMPLES[0])
    links = ConfiguredLinks(path)
    assert links.chain() == ("inception/mercury-2.5", "ollama/qwen3")
    link = links.resolve("inception/mercury-2.5")
    assert link.rules("github.create_issue").strict is False
    assert link.rules("any other").strict is True


def test_the_table_has_every_setting_at_the_levels_where_it_may_stand():
    rows = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 8 and cells[1].startswith("`"):
            name = re.match(r"`(\w+)`", cells[1])[1]
            rows[name] = {level for level, cell in zip(LEVELS, cells[2:5], strict=True) if cell == "✓"}
    declared = {*Level.model_fields, *ProviderEntry.model_fields, *ModelEntry.model_fields} - {"id", "models"}
    assert set(rows) == declared
    for name, levels in rows.items():
        assert levels == {level for level, model in LEVELS.items() if name in model.model_fields}, name


def test_the_rest_is_named_too():
    for name in [*Config.model_fields, *RetrySettings.model_fields]:
        assert f"`{name}" in PAGE, name


def test_the_dialects_without_a_strict_decoder_are_those_that_the_page_names():
    idle = {dialect.name for dialect in dialects() if dialect.enforced == "none"}
    sentence = re.search(r"know of no strict decoder:(.*?)\.\s", PAGE, re.DOTALL)[1]
    assert set(re.findall(r"`(.+?)`", sentence)) == idle
