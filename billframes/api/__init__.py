"""The wire: the API declared once, HTTP, paging, decoding, and the client with its resources."""
