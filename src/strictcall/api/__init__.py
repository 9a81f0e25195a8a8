"""Requests and answers of the APIs that models are called by: each module holds both directions of one."""
