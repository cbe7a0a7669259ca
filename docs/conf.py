"""How the book is built: MyST pages, a reference page for each module, formulas as MathML, nothing fetched."""

from __future__ import annotations

import gc
import logging
import sys
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
sys.path.insert(0, str(HERE.parent))

# What autodoc says of every name to whoever looks for an error in it is put together and thrown away, and takes long.
logging.disable(logging.DEBUG)

# All pages are held as millions of nodes: to look for garbage among them every 700 nodes would take long.
gc.set_threshold(50_000, 20, 10)

project = "spec_math"
author = "the spec_math authors"
copyright = "the spec_math authors, Apache-2.0"
release = version = version_of("spec_math")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "mathml",
    "plain_docstrings",
    "one_document",
    "reference",
    "remembered_names",
    "gallery",
    "linked_names",
    "tests_behind_links",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# The ten functions stand on top of the reference, which includes their page.
exclude_patterns = ["_build", "_extensions", "_static", "ten_functions.md"]
language = "en"

# Extras: what needs them is documented in full where they are installed, and mocked where they are not.
EXTRAS = ("torch", "triton", "transformers", "tokenizers", "sentencepiece", "z3", "selenium", "pyarrow", "dask")
autodoc_mock_imports = [name for name in EXTRAS if find_spec(name) is None]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# Types stand in annotations; to look for them in comments, every function would be parsed.
autodoc_use_type_comments = False
autodoc_default_options = {"members": True, "show-inheritance": False}
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries = False
# Annotations name `Array`, which `arrays` passes on from `number_types`: two places, one thing.
suppress_warnings = ["ref.python"]

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "spec_math"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
