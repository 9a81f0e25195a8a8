"""A configuration is read again at each inference: an edited one is seen at once, and a broken edit breaks nothing."""

from __future__ import annotations

import os

import pytest

from strictcall.errors import ConfigError
from strictcall.link.catalog import SHIPPED
from strictcall.link.configured import NAMES, ConfiguredLinks, find_config
from strictcall.link.retry import Retries

BASIC = '[[providers]]\nid = "a"\nbase_url = "http://x"\n[[providers.models]]\nid = "m"\nsupports_tools = "basic"\n'
STRICT = BASIC.replace("basic", "strict")
BROKEN = BASIC.replace("basic", "strit")
SAME_LENGTH = BASIC.replace('"basic"', '"none" ')


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "strictcall.toml"
    path.write_text(BASIC)
    return path


def test_an_edited_file_is_seen_at_once(file):
    links = ConfiguredLinks(file)
    assert links.resolve("a/m").supports_tools == "basic"
    file.write_text(STRICT)
    assert links.resolve("a/m").supports_tools == "strict"
    file.write_text(BASIC + '[fallback]\nchain = ["openai/gpt-4o", "a/m"]\n')
    assert links.chain() == ("openai/gpt-4o", "a/m")


def test_a_file_that_was_put_in_its_place_is_seen_though_its_size_and_time_are_the_same(file, tmp_path):
    links = ConfiguredLinks(file)
    links.resolve("a/m")
    seen = file.stat()
    other = tmp_path / "other.toml"
    other.write_text(SAME_LENGTH)
    os.utime(other, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    other.replace(file)
    now = file.stat()
    assert (now.st_size, now.st_mtime_ns) == (seen.st_size, seen.st_mtime_ns)
    assert links.resolve("a/m").supports_tools == "none"


def test_a_file_that_did_not_change_is_read_once(file):
    links = ConfiguredLinks(file)
    assert links.configuration is links.configuration
    assert links.resolve("a/m").dialect is links.resolve("a/m").dialect


def test_a_file_that_is_wrong_at_first_is_an_error(file):
    file.write_text(BROKEN)
    with pytest.raises(ConfigError, match="one of none, basic, parallel, strict"):
        ConfiguredLinks(file)
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        ConfiguredLinks(file.with_name("absent.toml"))


def test_a_broken_edit_leaves_what_was_said_before_in_force_and_is_told_once(file):
    told = []
    links = ConfiguredLinks(file, on_problem=told.append)
    file.write_text(BROKEN)
    for _ in range(3):
        assert links.resolve("a/m").supports_tools == "basic"
    assert [error.problems[0].line for error in told] == [6]
    assert links.problem is told[-1] or links.problem.lines() == told[-1].lines()
    file.unlink()
    assert links.chain() == ("a/m",)
    assert len(told) == 2
    file.write_text(STRICT)
    assert links.resolve("a/m").supports_tools == "strict"
    assert links.problem is None


def test_the_catalog_is_read_again_too(tmp_path):
    catalog = tmp_path / "catalog.toml"
    catalog.write_bytes(SHIPPED.read_bytes())
    links = ConfiguredLinks(catalog=catalog)
    assert links.resolve("inception/mercury-2.5").supports_tools == "basic"
    said = catalog.read_text()
    cut = said.index('ids = ["mercury-2*"]')
    catalog.write_text(said[:cut] + said[cut:].replace('supports_tools = "basic"', 'supports_tools = "parallel"', 1))
    assert links.resolve("inception/mercury-2.5").supports_tools == "parallel"


def test_the_process_may_go_to_another_folder(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    links = ConfiguredLinks(find_config())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    file.write_text(STRICT)
    link = links.resolve("a/m")
    assert (link.supports_tools, link.origins["supports_tools"].source) == ("strict", "strictcall.toml")
    assert links.problem is None


def test_without_a_chain_the_first_model_serves_alone(file):
    assert ConfiguredLinks(file).chain() == ("a/m",)
    assert ConfiguredLinks().chain() == ()


def test_how_often_a_link_is_asked_again_can_be_said(file):
    assert ConfiguredLinks(file).retries() == Retries()
    file.write_text("retries = { attempts = 7, within = 1 }")
    assert ConfiguredLinks(file).retries() == Retries(attempts=7, within=1.0)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_found_where_one_works(tmp_path, name):
    assert find_config(tmp_path, {}) is None
    (tmp_path / name).write_text("{}" if name.endswith("json") else "")
    assert find_config(tmp_path, {}) == tmp_path / name
    assert find_config(tmp_path, {"STRICTCALL_CONFIG": "/else/where.toml"}).name == "where.toml"


def test_two_files_in_one_folder_are_not_chosen_between(tmp_path):
    for name in NAMES[:2]:
        (tmp_path / name).write_text("{}")
    with pytest.raises(ConfigError, match=r"strictcall.toml and strictcall.json; name one by --config"):
        find_config(tmp_path, {})
