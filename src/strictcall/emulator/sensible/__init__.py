"""Answers that look natural: they read names, formats and the words of the user."""
