"""What a schema says: JSON Schema of any draft read as shapes, and the local check."""
