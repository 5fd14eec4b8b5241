"""Texts, names, notes, limits, files and forks, which several folders use."""
