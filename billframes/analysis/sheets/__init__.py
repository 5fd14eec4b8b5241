"""The analyses: each is a filter of a fact, a table of sums, and ratios of these sums."""
