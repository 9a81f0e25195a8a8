"""Running tools: what an output is, the executor, tools from Python functions, MCP servers, events."""
