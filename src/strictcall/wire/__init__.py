"""Shape, dialect and policy to a wire schema with its codec and changes."""
