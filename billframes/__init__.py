"""Placeholder until the public namespace lands."""
