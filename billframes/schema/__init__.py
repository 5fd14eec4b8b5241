"""The records of the API, their resources, and the columns of frames."""
