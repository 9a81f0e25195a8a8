"""Every API that is served: its requests read and refused, its answers written."""
