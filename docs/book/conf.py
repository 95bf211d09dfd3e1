"""How Sphinx makes the book: run by `python3 course.py book`, never by hand."""

project = "TensorFlow's machinery"
author = "the authors of the course"
copyright = author
language = "en"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "tools.book_sphinx",
]
root_doc = "index"
templates_path = []

# The committed outputs are shown; nothing is run.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 4

# Docstrings quote names with single backticks, as the lessons do.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_math_renderer = "mathtext"
html_theme_options = {
    "use_download_button": False,
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "home_page_in_toc": True,
    "show_prev_next": True,
    "navbar_persistent": [],
}
pygments_style = "a11y-high-contrast-light"
