"""The reference server: the whole API over HTTP, on SQLite, with a seeded firm. Knows nothing of the client."""
