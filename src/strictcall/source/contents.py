"""What a document holds, told by its content: tools, the servers of an MCP config file, or an API's operations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strictcall.source.mcp_config import is_config, read_config
from strictcall.source.openapi import is_openapi, read_openapi
from strictcall.source.options import ReadOptions
from strictcall.source.reading import Reading, failed
from strictcall.source.shapes import read_value

NO_SERVERS = "--server picks servers of an MCP config file, and this is none"


@dataclass(frozen=True, slots=True)
class ContentReader:
    """Reads the value of a document; ``workspace`` is the folder that a config file in it speaks for."""

    workspace: Path
    options: ReadOptions

    def __call__(self, value: Any, place: str, name: str) -> Reading:
        """The tools that the value holds. Never raises."""
        if is_config(value):
            return read_config(value, place, self.workspace, self.options)
        if self.options.servers:
            return failed(place, NO_SERVERS)
        if is_openapi(value):
            return read_openapi(value, place)
        return read_value(value, place, name)
