"""Where tools come from: files, Python objects and MCP servers. One bad tool never hides the others."""
