"""Profiles and their sources, secrets, and the firm's settings."""
