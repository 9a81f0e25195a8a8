"""What the model answers: anything that a decoder allows, or what breaks a schema."""
