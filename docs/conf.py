"""Build the site: `python -m sphinx -W docs docs/_build/site`.

`site_pages.py` writes the pages and pictures that are made from the code into `docs/generated` before Sphinx reads the
sources. Notebooks are shown with their stored outputs and examples as in the source; the tests run both.
"""

from __future__ import annotations

import gc
import inspect
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

from billframes.widgets.dashboard.kernel import skip_unused_grammar

sys.path.insert(0, str(Path(__file__).parent))
skip_unused_grammar()
# Python's default, a collection every 700 objects, takes a seventh of the build's own time.
gc.set_threshold(20_000)

import site_pages  # noqa: E402

import billframes  # noqa: E402

project = "billframes"
author = "The billframes developers"
version = release = billframes.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
templates_path: list[str] = []
html_theme = "pydata_sphinx_theme"
html_title = f"billframes {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "off"
default_role = "code"
html_sidebars = {"index": [], "generated/gallery": []}
autodoc_typehints = "none"
autodoc_member_order = "alphabetical"
autosummary_generate = False
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

_LINK = re.compile(r"\]\((?!https?:|#)([^()#\s]+)")
# The empty line that ends an output for doctest is not shown.
_END_OF_EXAMPLE = re.compile(r"^(```pycon\n.*?)\n\n```$", re.DOTALL | re.MULTILINE)
_COPIES = {"notebooks/": "generated/notebooks/"} | {name: f"generated/{name.lower()}" for name in site_pages.COPIED}


def setup(app: Any) -> None:
    """Write the generated pages, and register the functions that change sources and docstrings."""
    site_pages.write(Path(app.srcdir) / "generated")
    app.connect("source-read", _source)
    app.connect("autodoc-process-docstring", _call_docstring, priority=400)


def _source(app: Any, page: str, source: list[str]) -> None:
    """Add a page's pictures, remove the empty lines that end examples, and let links lead to the copies in the site."""
    folder = Path(app.srcdir, page).parent
    if f"{page}.md" in _COPIES.values():
        folder = Path(app.srcdir).parent  # links in it are relative to the top folder
    elif page.startswith("generated/notebooks/"):
        folder = Path(app.srcdir).parent / "notebooks"

    def inside(link: re.Match[str]) -> str:
        target = os.path.relpath(folder / link[1], Path(app.srcdir).parent)
        for original, copy in _COPIES.items():
            target = copy + target.removeprefix(original) if target.startswith(original) else target
        start = Path(page).parent
        return f"]({os.path.relpath(target.removeprefix('docs/'), start)}"

    text = _END_OF_EXAMPLE.sub(r"\1\n```", source[0])
    source[0] = _LINK.sub(inside, site_pages.with_pictures(page, site_pages.with_index(page, text)))


def _call_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Document a loader or a chart, which are callable objects, by the docstring of its call."""
    if what == "function" and not hasattr(obj, "__name__"):
        call = obj.__call__.__doc__ or ""
        # A loader has the text on the object itself; its `__call__` has Python's text only.
        text = inspect.getdoc(obj) if call == types.FunctionType.__call__.__doc__ else call
        lines[:] = inspect.cleandoc(text or "").split("\n")
