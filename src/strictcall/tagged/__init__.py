"""Calls written as text: what open models answer where no parser of the server's reads their calls.

``read`` and ``Stream`` take answers, ``write`` writes calls as a model would, ``formats`` names the formats.
"""

from strictcall.tagged.reading import Stream, read
from strictcall.tagged.registry import formats
from strictcall.tagged.writing import write

__all__ = ["Stream", "formats", "read", "write"]
