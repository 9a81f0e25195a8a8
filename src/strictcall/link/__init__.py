"""Links to models: configuration, catalog, clients, retries and the fallback chain."""
