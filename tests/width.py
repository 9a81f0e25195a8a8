"""How wide the costly tests run: ``STRICTCALL_TESTS=all`` has each of them under every dialect, as ``make wide`` does.

Without it a case that is slow under any dialect, and does much the same under each, is run under one of them in turn:
``make test`` stays short, and no case is left out.
"""

from __future__ import annotations

import os

ALL = os.environ.get("STRICTCALL_TESTS") == "all"
