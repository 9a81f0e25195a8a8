"""The package: its public names, what importing it costs, and what its wheel holds."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import strictcall

ROOT = Path(__file__).parents[1]
PUBLIC = {
    "ArgumentsError",
    "Change",
    "CompiledTool",
    "Dialect",
    "Policy",
    "StrictCallError",
    "Tool",
    "Toolset",
    "Verdict",
    "compile_schema",
    "compile_tool",
    "dialects",
    "judge",
}


def test_the_public_names_are_exactly_these():
    here = {
        name for name, value in vars(strictcall).items() if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert set(strictcall.__all__) == PUBLIC
    assert here == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_are_documented(name):
    assert (getattr(strictcall, name).__doc__ or "").strip()


def test_importing_imports_the_core_only():
    code = "import sys, strictcall; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert {"strictcall", "jiter"} <= loaded
    assert loaded.isdisjoint(
        {
            "jsonschema_rs",
            "referencing",
            "typer",
            "rich",
            "yaml",
            "mcp",
            "pydantic",
            "openai",
            "anthropic",
            "anyio",
            "asyncio",
            "numpy",
        }
    )


def test_the_wheel_holds_the_dialects_and_the_type_marker(tmp_path):
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    wanted = {path.relative_to(source).as_posix() for suffix in ("py", "toml") for path in source.rglob(f"*.{suffix}")}
    assert wanted | {"strictcall/py.typed"} <= names
    assert {name.partition("/")[0] for name in names} == {"strictcall", "strictcall-0.1.0.dist-info"}
    assert any(name.endswith("/LICENSE") for name in names)


def test_the_entry_point_is_installed():
    try:
        scripts = importlib.metadata.distribution("strictcall").entry_points.select(group="console_scripts")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("strictcall runs from its source folder and is not installed")
    (script,) = scripts
    assert (script.name, script.value) == ("strictcall", "strictcall.__main__:main")
    assert callable(script.load())


def test_all_is_every_extra_but_dev():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = extras["all"][0].removeprefix("strictcall[").removesuffix("]").split(",")
    assert sorted(named) == sorted(set(extras) - {"all", "dev"})
