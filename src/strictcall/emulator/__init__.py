"""A local endpoint as strict as a provider's, to test against."""
