"""Turns the cells of a lesson into slides with speaker notes.

A slide has questions, pitfalls, definitions, lists, tables, code, outputs, or a figure.
The other sentences become notes. Code brings the statements along that it needs and
that were not shown, so a deck can leave out imports, plotting code, and whole sections.
"""

import ast
import builtins
import html
import itertools
import re
import symtable
from collections.abc import Iterator

import nbformat
from nbconvert.filters import Highlight2HTML

from tools.cells import QUESTION, Lesson, checked, is_exercise, sections
from tools.slides_page import Slide, heading, inline, interactive, markdown, part

LINES = 20  # of code or output in one part of a slide
EVERYBODY_KNOWS = {"np", "tf", "tf1"}  # what the names of these modules stand for
LISTED = re.compile(r"\||[-*] |\d+\. |```|\*\*You ")
LOCAL_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")
FENCE_OR_PARAGRAPH = re.compile(r"(?:```.*?```|.)+?(?=\n\n(?![ \t])|\Z)", re.S)
LEANS = re.compile(r"(?:But|However|Then|So|This|That|Such|Here)\b"
                   r"|(?i:.*\b(?:it|its|they|them|these|both)\b)")
NOT_SHOWN = ("Further reading",)
# How readers make frames of an interactive figure; a class has the figure itself.
MAKES_FRAMES = re.compile(r"\.says\)|^def \w+_frame\(", re.M)
LIVE = re.compile(
    r"\*\*Live:\*\* (?:Open the interactive figure|In the section) \*(.+?)\*.+")
ALOUD = re.compile(r"\*\*Ask aloud\*\*\n\n.+?(?=\n\n\*\*|\Z)", re.S)


class Deck:
    """Slides of one lesson, in columns.

    Args:
      lesson: Lesson with its outputs.
      titles: Sections to show. By default, these are all sections.
      out: Beginnings of the headings to leave out.
      clock: Time at which a section begins, by its heading.
      advice: Notes of the instructor's guide on the lesson.

    Attributes:
      columns: Slides of each section, by its heading.
    """

    def __init__(self, lesson: Lesson, titles: list[str] | None = None,
                 out: tuple[str, ...] = (), clock: dict[str, str] | None = None,
                 advice: str = ""):
        self.columns: dict[str, list[Slide]] = {}
        self.lesson, self._titles, self._out = lesson, titles, out
        self._clock, self._advice = clock or {}, advice
        self._section, self._hidden = lesson.title, False
        self._opening = False  # nothing of the section has been shown
        self._answers = False  # the next text interprets an output
        self._notes: list[str] = []  # for the next slide
        self._known = set(dir(builtins)) | EVERYBODY_KNOWS
        self._unseen: dict[str, str] = {}  # statement of each name that is not shown
        self._set_up()
        for cell, after in itertools.pairwise([*lesson.cells, None]):
            if cell.cell_type == "code":
                self._code(cell)
            else:
                self._text(cell.source, after)
        self._leave()

    def _set_up(self) -> None:
        """Finds out what the section Setup has to show; imports come at their use."""
        cells = next(cells for cells in sections(self.lesson.cells)
                     if re.search("^## Setup", cells[0].source, re.M))
        code = [cell.source for cell in cells if cell.cell_type == "code"]
        self._own = {source: _own_statements(source) for source in code}
        nodes = [node for own in self._own.values() for node in ast.parse(own).body]
        if all(isinstance(node, ast.Assign) for node in nodes):
            self._own = dict.fromkeys(code, "")

    # Text

    def _text(self, source: str, after: nbformat.NotebookNode | None) -> None:
        """Adds a text cell; `after` is the cell after it."""
        parts = FENCE_OR_PARAGRAPH.findall(LOCAL_LINK.sub(r"\1", source))
        parts = [paragraph.strip("\n") for paragraph in parts]
        for paragraph, following in itertools.pairwise([*parts, ""]):
            if found := re.match(r"(#+) (.+)", paragraph):
                self._heading(len(found[1]), found[2])
                rest = paragraph.partition("\n")[2]
                if rest:
                    self._paragraph(rest, following, after)
            elif not self._hidden:
                self._paragraph(paragraph, following, after)

    def _heading(self, level: int, title: str) -> None:
        self._answers = False
        if level < 3:
            self._leave()
            self._section = title
        self._hidden = (
            self._section.startswith(NOT_SHOWN) or title.startswith(self._out or "\n")
            or self._titles is not None and self._section not in self._titles)
        if self._hidden:
            return
        self._opening = level > 1
        if self._section not in self.columns:  # or only its opening is left out
            self.columns[self._section] = []
            self._begin(min(level, 2), self._section)
        if level > 2:
            self._slides[-1].full |= self._slides[-1].solid
            slide = self._open()
            slide.parts.append(part(heading(level, title), "keep"))
            slide.solid = True

    def _begin(self, level: int, title: str) -> None:
        slide = self._open()
        slide.parts.append(part(heading(level, title), "keep"))
        slide.solid = title != "Setup"
        if clock := self._clock.get(title):
            slide.notes.append(markdown(f"**{clock}** in a class of two hours"))
        slide.notes += self._live(title)
        if level == 1:
            slide.notes.append(markdown(self._advice))
        if title == "What you can do now":
            slide.notes.extend(map(markdown, ALOUD.findall(self._advice)))

    def _live(self, title: str) -> list[str]:
        """Returns the demonstration of a section or of an interactive figure."""
        return [markdown(live[0]) for live in LIVE.finditer(self._advice)
                if live[1] == title]

    def _paragraph(self, text: str, following: str,
                   after: nbformat.NotebookNode | None) -> None:
        leads_to = ("list" if LISTED.match(following) and following[:2] != "**" else
                    "code" if not following and self._shows(after) else "")
        if text.startswith(("[Previous", "Next: ")):
            return
        if LISTED.match(text):
            self._show(text)
            self._slides[-1].solid = True
        elif (text.startswith(">") or QUESTION.search(text)
              or self._section.startswith("Exercise")):
            if shown := text if leads_to else _without_announcement(text):
                self._show(shown, "keep")
                slide = self._slides[-1]
                slide.solid, slide.full = True, text.startswith(">") and not leads_to
                slide.asked |= bool(QUESTION.search(text))
        else:
            self._note(text, leads=bool(leads_to))
            shown = chosen(text, leads_to=leads_to, opening=self._opening)
            if shown:
                self._show(shown, "keep")
        self._answers = self._opening = False

    def _show(self, text: str, *classes: str) -> None:
        slide = self._open()
        slide.parts.append(part(markdown(text), *classes))

    def _note(self, text: str, *, leads: bool) -> None:
        if self._answers:
            self._slides[-1].notes.append(markdown(text))
        if not self._answers or leads:
            self._notes.append(markdown(text))

    # Code and outputs

    def _code(self, cell: nbformat.NotebookNode) -> None:
        source = self._own.get(cell.source, cell.source)
        for statement, bound in statements(cell.source):
            if not self._shows(cell) or statement not in source:
                self._unseen |= dict.fromkeys(bound, statement)
        if self._hidden or is_exercise(cell) or checked(cell):
            return
        drawn, printed = figures(cell), texts(cell)
        for title, figure in drawn:
            slide = self._open(figure=True)
            slide.parts, slide.full = [figure], True
            slide.notes += [_output(text) for text in printed]
            slide.notes += self._live(title)
        if drawn or not self._shows(cell):
            self._answers |= bool(drawn)
            return
        slide = self._open()
        *begin, end = split(self._complete(source))
        for lines in begin:
            slide.parts.append(part(Highlight2HTML()(lines), "code"))
        with_output = ["keep"] * bool(printed)
        slide.parts.append(part(Highlight2HTML()(end), "code", *with_output))
        for text in printed:
            for lines in split(text):
                slide.parts.append(part(_output(lines), *["fragment"] * slide.asked))
        slide.solid, slide.full = True, bool(printed)
        self._answers = bool(printed)

    def _shows(self, cell: nbformat.NotebookNode | None) -> bool:
        """Returns whether the code of a cell is shown."""
        return (cell is not None and cell.cell_type == "code" and not self._hidden
                and not figures(cell) and not is_exercise(cell) and not checked(cell)
                and not MAKES_FRAMES.search(cell.source)
                and bool(self._own.get(cell.source, cell.source)))

    def _complete(self, source: str) -> str:
        """Puts statements that were not shown in front of the code that needs them."""
        lines: list[str] = []

        def require(code: str) -> None:
            bound, used = names(code)
            needed = used - bound - self._known
            self._known |= bound
            for name in sorted(needed - self._known):
                statement = self._unseen.pop(name, "")
                if statement and statement not in lines:
                    require(statement)
                    lines.append(statement)

        require(source)
        imports = [line for line in lines if line.startswith(("import ", "from "))]
        others = [line for line in lines if line not in imports]
        return "\n\n".join(filter(None, ["\n".join(imports), *others, source]))

    # Slides

    @property
    def _slides(self) -> list[Slide]:
        return self.columns[self._section]

    def _open(self, *, figure: bool = False) -> Slide:
        """Returns the slide for the next part, with the notes that wait for it."""
        if figure:
            self._drop_thin()
        if figure or not self._slides or self._slides[-1].full:
            where = f"{self.lesson.number} · {inline(self._section)}"
            self._slides.append(Slide(where, figure=figure))
        slide = self._slides[-1]
        slide.notes += self._notes
        self._notes = []
        return slide

    def _leave(self) -> None:
        """Ends a section: its last slide gets the notes that are left."""
        if self.columns.get(self._section):
            self._drop_thin()
        if not self.columns.get(self._section):
            self.columns.pop(self._section, None)
        elif self._notes:
            self._slides[-1].notes += self._notes
        self._notes = []

    def _drop_thin(self) -> None:
        """Removes a slide that has sentences alone, which are in its notes, too."""
        if self._slides and not self._slides[-1].solid and not self._slides[-1].full:
            self._notes = self._slides.pop().notes + self._notes


def _output(text: str) -> str:
    return f'<pre class="output">{html.escape(text)}</pre>'


def chosen(text: str, *, leads_to: str, opening: bool) -> str:
    """Returns the sentences of a paragraph that a slide shows.

    These are definitions, which have a term in bold, and the sentence that leads to
    what follows. A sentence that leans on the one before it brings that one, too.

    Args:
      text: Paragraph in Markdown.
      leads_to: What comes next on the slide: `"code"`, `"list"` or, if neither, `""`.
      opening: Whether the paragraph opens a section, so that its first sentence is
        shown.
    """
    said = sentences(text)
    shown = {k for k, sentence in enumerate(said) if "**" in sentence}
    shown |= {0} if opening else set()
    asked = [k for k, sentence in enumerate(said) if sentence.endswith("?")]
    if leads_to:
        shown.add(asked[-1] if asked and leads_to == "code" else len(said) - 1)
    for k in sorted(shown, reverse=True):
        while k and LEANS.match(said[k]):
            k -= 1
            shown.add(k)
    if not leads_to:  # what the last sentence announces is not on the slide
        shown -= {len(said) - 1} if said[-1].endswith(":") else set()
    return " ".join(said[k] for k in sorted(shown))


def sentences(text: str) -> list[str]:
    """Splits a paragraph into its sentences."""
    return re.split(r"(?<=[.?!]) (?=[A-Z`*\[(])", text.replace("\n", " "))


def _without_announcement(text: str) -> str:
    """Removes a last sentence that announces what is not on the slide."""
    return re.sub(r"(?:^|(?<=[.?!*]) )[^.?!*]*:$", "", text)


def figures(cell: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Returns the title and the HTML of each figure of a cell.

    If one of them is interactive, it is the only one.
    """
    pictures, pages = [], []
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            alt = output.metadata.get("image/png", {}).get("alt", "")
            pictures.append((alt, f'<img alt="{html.escape(alt)}" src="data:image/png;'
                                  f'base64,{data["image/png"].strip()}">'))
        elif "<iframe" in (shown := data.get("text/html", "")):
            title = re.search(r"<iframe title='(.*?)' sandbox", shown, re.S)[1]
            pages.append((html.unescape(title), interactive(shown)))
    return pages or pictures


def texts(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the texts that a cell has printed, without those of its figures."""
    return [text for output in cell.outputs
            if not {"image/png", "text/html"} & output.get("data", {}).keys()
            if (text := output.get("text") or output.get("data", {}).get("text/plain"))]


def split(text: str) -> Iterator[str]:
    """Yields pieces of a text, each at most `LINES` lines long."""
    lines = text.rstrip("\n").split("\n")
    while len(lines) > LINES:
        cut = min(range(LINES, LINES // 2, -1), key=lambda k: (
            bool(lines[k - 1].strip()), len(lines[k]) - len(lines[k].lstrip())))
        yield "\n".join(lines[:cut]).rstrip("\n")
        lines = lines[cut:]
    yield "\n".join(lines)


def names(source: str) -> tuple[set[str], set[str]]:
    """Returns the global names that Python code binds, and those that it uses."""
    bound, used = set(), set()

    def walk(table: symtable.SymbolTable, *, top: bool) -> None:
        for symbol in table.get_symbols():
            if top and (symbol.is_assigned() or symbol.is_imported()):
                bound.add(symbol.get_name())
            if symbol.is_referenced() and (top or symbol.is_global()):
                used.add(symbol.get_name())
        for child in table.get_children():
            walk(child, top=False)

    walk(symtable.symtable(source, "cell", "exec"), top=True)
    return bound, used


def statements(source: str) -> Iterator[tuple[str, set[str]]]:
    """Yields each statement of a cell that binds global names, with these names."""
    lines = source.split("\n")
    for node in ast.parse(source).body:
        first = min([node, *getattr(node, "decorator_list", [])],
                    key=lambda part: part.lineno)
        statement = "\n".join(lines[first.lineno - 1:node.end_lineno])
        if bound := names(statement)[0]:
            yield statement, bound


def _own_statements(source: str) -> str:
    """Removes imports, and how every lesson begins, from a cell of the set-up."""
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):
        said = "\n".join(lines[node.lineno - 1:node.end_lineno])
        if isinstance(node, ast.Import | ast.ImportFrom) or re.search(
                r"lesson\.begin|tf\.__version__", said):
            del lines[node.lineno - 1:node.end_lineno]
    return "\n".join(lines).strip()
