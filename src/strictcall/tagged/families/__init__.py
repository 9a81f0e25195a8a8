"""One file a family of formats."""
