"""Arrow tables become typed frames; frames are joined. Knows nothing of HTTP, nor of which resources there are."""
