"""What was found, written for people (a table) and for programs (JSON)."""
