"""Schemas and arguments made to hurt: each ends in an answer, soon, in little memory, in any thread."""
