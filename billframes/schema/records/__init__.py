"""Declare every record of the API, once.

Decoding, the columns and dtypes of frames, the docs' column tables and the sandbox's OpenAPI document are all derived
from these declarations. The name of a field in JSON and its type are declared nowhere else.
"""

from __future__ import annotations

from billframes.schema.records.clients import *  # noqa: F403
from billframes.schema.records.firm import *  # noqa: F403
from billframes.schema.records.shared import *  # noqa: F403
from billframes.schema.records.work import *  # noqa: F403
