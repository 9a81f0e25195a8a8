"""Exact tool calls: any tool's JSON Schema to a provider's strict schema, and the model's arguments back.

The names here are the public API; submodules hold what their documentation lists.
"""

from strictcall.change import Change, Verdict
from strictcall.dialect.judge import judge
from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import dialects
from strictcall.errors import ArgumentsError, StrictCallError
from strictcall.policy import Policy
from strictcall.tool import Tool
from strictcall.wire.compile import compile_schema, compile_tool
from strictcall.wire.compiled import CompiledTool
from strictcall.wire.toolset import Toolset

__all__ = [
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
]
