"""Declare analyses, their measures and columns, and the words that explain them. Nothing here computes."""
