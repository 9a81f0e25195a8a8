"""The converters that are compared, one function each. Runs in the environment of the peer: standard library only.

A maker imports its library and gives a function from a tool's schema to what would be sent: the schema and whether it
is marked strict. Each calls what the library itself calls for a tool that comes as JSON Schema.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

Converter = Callable[[Any], tuple[Any, bool]]


class RefusedError(Exception):
    """A converter that reports instead of raising says that it cannot convert the schema."""


def strictcall(dialect: str) -> Converter:
    """Ours: ``compile_tool``."""
    library = import_module("strictcall")

    def convert(schema: Any) -> tuple[Any, bool]:
        compiled = library.compile_tool(library.Tool("tool", "A tool.", schema), dialect=dialect)
        return compiled.parameters, compiled.strict

    return convert


def openai_agents() -> Converter:
    """The path of function tools; changes the schema in place."""
    library = import_module("agents.strict_schema")
    return lambda schema: (library.ensure_strict_json_schema(schema), True)


def openai_agents_mcp() -> Converter:
    """The path of MCP tools with ``convert_schemas_to_strict``; falls back to a tool that is not strict."""
    library = import_module("agents.mcp.util")
    server = SimpleNamespace(
        name="server",
        tool_input_guardrails=None,
        tool_output_guardrails=None,
        _get_failure_error_function=lambda function: function,
        _get_needs_approval_for_tool=lambda tool, agent: False,
    )

    def convert(schema: Any) -> tuple[Any, bool]:
        tool = SimpleNamespace(
            name="tool",
            title=None,
            description="A tool.",
            inputSchema=schema,
            input_schema=schema,
            annotations=None,
            meta=None,
        )
        made = library.MCPUtil.to_function_tool(tool, server, convert_schemas_to_strict=True)
        return made.params_json_schema, made.strict_json_schema

    return convert


def openai_python() -> Converter:
    """What is behind ``pydantic_function_tool`` and ``to_strict_json_schema``; changes the schema in place."""
    library = import_module("openai.lib._pydantic")
    return lambda schema: (library._ensure_strict_json_schema(schema, path=(), root=schema), True)


def pydantic_ai(strict: bool | None) -> Converter:
    """The transformer of the OpenAI profile; ``None`` lets it decide by itself, as it does for every tool."""
    library = import_module("pydantic_ai.profiles.openai")

    def convert(schema: Any) -> tuple[Any, bool]:
        transformer = library.OpenAIJsonSchemaTransformer(schema, strict=strict)
        converted = transformer.walk()
        return converted, transformer.is_strict_compatible if strict is None else strict

    return convert


def langchain() -> Converter:
    """``convert_to_openai_tool`` with ``strict=True``, on a tool in OpenAI's own form."""
    library = import_module("langchain_core.utils.function_calling")

    def convert(schema: Any) -> tuple[Any, bool]:
        tool = {"name": "tool", "description": "A tool.", "parameters": schema}
        made = library.convert_to_openai_tool(tool, strict=True)["function"]
        return made["parameters"], made["strict"]

    return convert


def haystack() -> Converter:
    """What the OpenAI chat generator does with ``tools_strict``."""
    library = import_module("haystack.components.generators.chat.openai")
    return lambda schema: (library._make_schema_strict(schema), True)


def attestry() -> Converter:
    """``from_mcp`` and ``to_openai(strict=True)``."""
    reading, writing = import_module("attestry.schema.ingest"), import_module("attestry.schema.emit.wire")

    def convert(schema: Any) -> tuple[Any, bool]:
        tool = reading.from_mcp({"name": "tool", "description": "A tool.", "inputSchema": schema})
        function = writing.to_openai(tool, strict=True)[0]["function"]
        return function["parameters"], function["strict"]

    return convert


def toolschema() -> Converter:
    """``ToolDefinition.to_openai(strict=True)``."""
    library = import_module("toolschema._ir")
    return lambda schema: (
        library.ToolDefinition("tool", "A tool.", schema).to_openai(strict=True)["function"]["parameters"],
        True,
    )


def schemafit() -> Converter:
    """``repair(schema, "openai")``; what it leaves for a human is a refusal."""
    library = import_module("schemafit.repair")

    def convert(schema: Any) -> tuple[Any, bool]:
        converted, told = library.repair(schema, "openai")
        if told["manual_required"]:
            raise RefusedError(told["manual_required"][0])
        return converted, True

    return convert


def anthropic() -> Converter:
    """``transform_schema``, which the SDK uses for output formats and offers for tools."""
    library = import_module("anthropic")
    return lambda schema: (library.transform_schema(schema), True)


MAKERS: dict[str, Callable[[], Converter]] = {
    "strictcall-openai": lambda: strictcall("openai"),
    "strictcall-anthropic": lambda: strictcall("anthropic"),
    "openai-agents": openai_agents,
    "openai-agents-mcp": openai_agents_mcp,
    "openai-python": openai_python,
    "pydantic-ai-auto": lambda: pydantic_ai(None),
    "pydantic-ai-strict": lambda: pydantic_ai(True),
    "langchain": langchain,
    "haystack": haystack,
    "attestry": attestry,
    "toolschema": toolschema,
    "schemafit": schemafit,
    "anthropic": anthropic,
}
"""Each converter by the name that a worker is asked for."""
