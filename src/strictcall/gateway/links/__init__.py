"""The gateway before the links of a configuration: Chat Completions for clients, whatever the links speak."""
