"""Facts: rows that the figures of analyses are sums of, each made once for a book."""
