"""An endpoint in front of another that makes its tool calls exact."""
