"""Explain results, compare them by period, and split changes into their causes."""
