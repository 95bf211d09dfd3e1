"""The project: its files, who imports whom, and where its programs start."""

import ast
import enum
import functools
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tf1tools.port.names import fates
from tf1tools.port.names.today import is_tensorflow
from tf1tools.port.reading import files as sources
from tf1tools.port.reading import handed_on as handed
from tf1tools.port.reading.origins import UNKNOWN, Origins
from tf1tools.port.reading.part import Part, Use
from tf1tools.port.reading.uses import Reader
from tf1tools.port.rule import row_of
from tf1tools.port.table.known import is_package
from tf1tools.port.text.syntax import canonical, modules_of

_PATHS = re.compile(rb"sys\.path\.(?:insert|append)\((?:\s*\d+\s*,)?\s*['\"]([^'\"]+)")
_METHODS = re.compile(rb"^[ \t]+def\s+(\w+)\s*\(\s*self\b", re.M)
MAIN = re.compile(r"^if\s+__name__\s*==\s*['\"]__main__['\"]", re.M)


class Certainty(enum.IntEnum):
    """How certain it is, from the text of a project alone, that something holds."""

    NO = 0
    PERHAPS = 1
    YES = 2


class File:
    """A file as it was read.

    Attributes:
      decoded: its text, and the coding of its bytes.
      parts: its cells, or the one whole; none where it could not be read.
      uses: the names in it; `names`: what its own stand for.
      words: what is to be said of it: "Python 2", "syntax error in line 3".
      imports: the files of the project that it imports, in order.
    """

    def __init__(self, project: "Project", path: Path):
        self.project, self.path = project, path
        self.words: list[str] = []
        self.imports: dict[File, None] = {}
        self.parts: list[Part] = []
        self.names: dict[str, str] = {}
        self.uses: list[Use] = []
        self.decoded = sources.Decoded("", "utf-8")

    def read(self) -> None:
        """Reads it, and before it what it imports."""
        reader = Reader(self._exports, self.project.methods)
        try:
            self.decoded = sources.decoded(self.path, self.words)
            cells = list(sources.cells(self.decoded.text)) \
                if self.path.suffix == ".ipynb" else [(None, self.decoded.text)]
        except sources.Unreadable as error:
            self.words.append(str(error))
            return
        if sources.is_snippet("\n".join(code for _, code in cells)):
            reader.top.names["tf"] = "tf"
            self.words.append("no import: tf is taken for TensorFlow")
        self.parts = [Part(self, n, *one) for n, one in enumerate(cells)]
        for part in self.parts:
            part.read(reader)
            self.words += part.words
        if not any(code.strip() for _, code in cells):
            self.words.append("empty")
        self.words = list(dict.fromkeys(self.words))
        self.names = reader.top.names
        self.uses = [use for part in self.parts for use in part.uses]

    @functools.cached_property
    def ages(self) -> set[str]:
        """Returns what its uses say of the TensorFlow that it is written for."""
        return {fates.age(use) for use in self.uses}

    @functools.cached_property
    def origins(self) -> Origins:
        """Returns of which modules the values of its names come."""
        return Origins([part.tree for part in self.parts if part.tree], self.names)

    @property
    def whole(self) -> bool:
        """Whether every line could be parsed."""
        return bool(self.parts) and all(part.tree for part in self.parts)

    @property
    def code(self) -> str:
        """Returns its text as it was found."""
        return "\n".join(part.found for part in self.parts)

    def _exports(self, module: str, level: int):
        found = self.project.own(self.path, module, level)
        if found is None:
            return {} if level or self.project.is_own(self.path, module) else None
        self.imports[found] = None
        for package in found.path.parents:  # importing a.b.c runs a and a.b first
            init = self.project.files.get(package / "__init__.py")
            if init and init is not self and package != self.path.parent:
                self.imports[init] = None
        return self.project.read(found).names


class Project:
    """All files together: the one place that rules ask for what no file tells alone."""

    def __init__(self, paths: list[Path], root: Path):
        """Reads all files of a folder, each once and before those that import it."""
        self.root = root if root.is_dir() else root.parent
        self.files = {path: File(self, path) for path in paths}
        self._read: set[File] = set()
        for file in self.files.values():
            self.read(file)

    def read(self, file: File) -> File:
        """Reads a file once; of two that import each other, one is first."""
        if file not in self._read:
            self._read.add(file)
            file.read()
        return file

    # Which module is the project's own.

    def own(self, path: Path, module: str, level: int = 0) -> File | None:
        """Returns the file that an import means, `None` for what lies elsewhere.

        A folder is looked into if Python would: the file's own (Python 2, and where it
        is started), the root, what `sys.path` is given, and each folder between that
        is no package. A package of the name of a library is not meant from inside.
        """
        if module and module.rpartition(".")[2] not in self._modules_here:
            return None
        above = [path.parent, *path.parent.parents]
        if level:
            homes = above[level - 1:level]
        else:
            homes = [path.parent, *self._given, *(
                home for home in above[1:] if home == self.root or
                self.root in home.parents and not self.holds_package(home))]
        for home in homes:
            place = home.joinpath(*filter(None, module.split(".")))
            for one in (place.with_name(place.name + ".py"), place / "__init__.py"):
                inside = not level and place in above and is_package(module)
                if one in self.files and one != path and not inside:
                    return self.files[one]
        return None

    def is_own(self, path: Path, module: str) -> bool:
        """Whether a module is a folder of the project; an installed one is stronger."""
        first = module.partition(".")[0]
        return bool(module) and not is_package(first) and any(
            (home / first).is_dir() for home in (path.parent, self.root))

    def holds_package(self, folder: Path) -> bool:
        """Whether a folder is a package."""
        return folder / "__init__.py" in self.files

    @functools.cached_property
    def _modules_here(self) -> set[str]:
        """Returns the last names of all modules of the project."""
        return {path.parent.name if path.stem == "__init__" else path.stem
                for path in self.files}

    @functools.cached_property
    def _given(self) -> list[Path]:
        """Returns the folders that some file puts into `sys.path`, by its text."""
        given = [home / os.fsdecode(word) for path in self.files
                 for word in _PATHS.findall(_raw(path))
                 for home in {path.parent, self.root}]
        return [Path(os.path.normpath(folder)) for folder in given if folder.is_dir()]

    @functools.cached_property
    def methods(self) -> set[str]:
        """Returns the names of methods that some file defines, by its text."""
        return {os.fsdecode(name) for path in self.files
                for name in _METHODS.findall(_raw(path))}

    @functools.cached_property
    def taken(self) -> dict[File, dict[str, File]]:
        """Returns of each file the names that others take of it, and one of those."""
        return handed.taken(self)

    # Who belongs to whom.

    @functools.cache  # noqa: B019 (a run has one project)
    def reached(self, file: File) -> set[File]:
        """Returns a file and all that it imports, near and far."""
        return _closure(file, lambda one: one.imports)

    @functools.cached_property
    def starts(self) -> list[File]:
        """Returns the programs: what has a main part, and what nobody imports."""
        imported = {other for file in self.files.values() for other in file.imports}
        return [file for file in self.files.values() if file.path.name != "__init__.py"
                and (file not in imported or MAIN.search(file.code))]

    @functools.cached_property
    def _starts_of(self) -> dict[File, list[File]]:
        found: dict[File, list[File]] = {}
        for start in self.starts:
            for file in self.reached(start):
                found.setdefault(file, []).append(start)
        return found

    def programs(self, file: File) -> set[File]:
        """Returns the files of all programs that a file is a part of."""
        return self.reached(file).union(
            *(self.reached(start) for start in self._starts_of.get(file, ())))

    @functools.cache  # noqa: B019
    def homes(self, file: File) -> set[Path]:
        """Returns where a module has to lie that a file imports by its bare name.

        That is the folder of each program that reaches it, `sys.path[0]`; and where it
        is started as `python -m package.start`, the folder that holds the package.
        """
        starts = self._starts_of.get(file, ())
        return {self._home(start) for start in starts}.union(
            *map(self._package_homes, starts)) or {self.above_packages(file)}

    def above_packages(self, file: File) -> Path:
        """Returns the folder from which the package of a file can be imported."""
        home = file.path.parent
        while self.holds_package(home) and home != self.root:
            home = home.parent
        return home

    @functools.cache  # noqa: B019
    def _package_homes(self, start: File) -> set[Path]:
        """Returns the folders above a program from which it imports by full name."""
        above = start.path.parents
        inside = [home for home in above[1:]
                  if home == self.root or self.root in home.parents]
        return {home for home in inside for word in self._modules(start)
                if home / word in above}

    def _modules(self, file: File) -> set[str]:
        """Returns the first names of the modules that a file imports."""
        return {name.partition(".")[0] for part in file.parts for node in part.nodes
                for name in modules_of(node)}

    @functools.cache  # noqa: B019
    def _home(self, start: File) -> Path:
        relative = any(getattr(node, "level", 0) for part in start.parts
                       for node in part.nodes)  # `python -m package.start`
        return self.above_packages(start) if relative else start.path.parent

    def together(self, file: File) -> set[File]:
        """Returns the files that import each other, near and far, either way."""
        return self._groups[file]

    @functools.cached_property
    def _groups(self) -> dict[File, set[File]]:
        beside: dict[File, set[File]] = {file: set() for file in self.files.values()}
        for file in beside:
            for other in file.imports:
                beside[file].add(other)
                beside[other].add(file)
        groups: dict[File, set[File]] = {}
        for file in beside:
            if file not in groups:
                group = _closure(file, beside.__getitem__)
                groups |= dict.fromkeys(group, group)
        return groups

    def uses_through(self, file: File, name: str) -> list[Use]:
        """Returns the uses of what an import brings, in all files that go together."""
        return self._through.get((id(self.together(file)), name), [])

    @functools.cached_property
    def _through(self) -> dict[tuple[int, str], list[Use]]:
        found: dict[tuple[int, str], list[Use]] = {}
        for file in self.files.values():
            for use in file.uses:
                if not isinstance(use.node, ast.alias):
                    key = id(self.together(file)), use.through
                    found.setdefault(key, []).append(use)
        return found

    # What is a matter of all files that go together.

    @functools.cache  # noqa: B019
    def is_old(self, file: File) -> bool:
        """Returns whether a file is to run on compat.v1.

        A file with old names does, unless a program with it has a sign of TensorFlow 2.
        A file without such names does if each program with it is old, so that a module
        which a program of today shares with old ones stays what it is.
        """
        sure = any if "old" in file.ages else all
        starts = self._starts_of.get(file, [file])
        return not self.is_todays(file) and sure(
            "old" in self._ages(start) for start in starts)

    def is_todays(self, file: File) -> bool:
        """Returns whether a program with a file has a sign of TensorFlow 2."""
        return any("today's" in self._ages(start)
                   for start in self._starts_of.get(file, [file]))

    @functools.cache  # noqa: B019
    def _ages(self, start: File) -> set[str]:
        """Returns what the files of a program say of its TensorFlow.

        TensorFlow 1.15 has the signs "eager" too, so old names in the same file, or a
        program that turns eager execution on, explain them.
        """
        files = self.reached(start)
        ages = set().union(*(one.ages for one in files))
        eager = any("eager" in one.ages and "old" not in one.ages for one in files)
        return ages | {"today's"} if eager and not any(
            "enable_eager" in use.name for one in files for use in one.uses) else ages

    def is_mixed(self, file: File) -> bool:
        """Whether it has old names, and goes with what only TensorFlow 2 takes."""
        return "old" in file.ages and not self.is_old(file)

    def has_keras(self, file: File) -> bool:
        """Returns whether a program with it has Keras as a package of its own."""
        return any(full.partition(".")[0] == "keras" for one in self.programs(file)
                   for full in one.names.values())

    @functools.cache  # noqa: B019
    def python2(self, file: File) -> Certainty:
        """Returns whether a program that contains a file was written for Python 2.

        The syntax of Python 2, or a name that Python 3 has removed, makes it certain.
        A method does not, because a class may define an `iteritems` of its own.
        """
        files = self.programs(file)
        signs = {use.name[:1] for one in files for use in one.uses
                 if (row := row_of(use.name)) and row.rule.since == "Python 3.0"}
        if signs - {"."} or any("Python 2" in one.words for one in files):
            return Certainty.YES
        return Certainty.PERHAPS if signs else Certainty.NO

    # Where a value comes from.

    def is_renamed_method(self, use: Use) -> Certainty:
        """Returns whether a method call means the method that was renamed.

        It does not if no program with this file imports a module that has the method.
        """
        return self.gives({*row_of(use.name).of}, use.receiver, use.part)

    def gives(self, modules: set[str], node, part: Part) -> Certainty:
        """Returns whether a value comes from one of these modules."""
        origins = part.file.origins.of(node, part.class_of(node))
        if origins and origins <= modules:
            return Certainty.YES
        if "dict" not in modules and not modules & self._imported(part.file):
            return Certainty.NO
        others = {one for one in origins - modules - {UNKNOWN} if not _is_pythons(one)}
        doubtful = others or not self.is_of_then(part.file)
        return Certainty.PERHAPS if doubtful else Certainty.YES

    @functools.cache  # noqa: B019
    def _imported(self, file: File) -> set[str]:
        """Returns the first names of what the programs with a file import."""
        return {canonical(name) for one in self.programs(file)
                for name in self._modules(one)}

    @functools.cache  # noqa: B019
    def is_of_then(self, file: File) -> bool:
        """Whether a file is old, or Python 2, or beside old ones with no TensorFlow."""
        if self.is_todays(file):
            return False
        files = self.together(file)
        silent = not any(is_tensorflow(use.name) for one in files for use in one.uses)
        return self.is_old(file) or self.python2(file) is Certainty.YES or (
            silent and self._holds_old)

    @functools.cached_property
    def _holds_old(self) -> bool:
        return any(map(self.is_old, self.files.values()))


def _is_pythons(module: str) -> bool:
    """Whether a module is of Python's library, of this Python or of Python 2."""
    row = row_of(module)
    return module in sys.stdlib_module_names or bool(
        row and row.rule.since == "Python 3.0")


def _raw(path: Path) -> bytes:
    """Returns the bytes of a file, none of one that cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _closure(file: File, near: Callable[[File], Iterable[File]]) -> set[File]:
    """Returns a file and all that can be reached from it."""
    found, open_ = {file}, [file]
    while open_:
        new = {*near(open_.pop())} - found
        found |= new
        open_ += new
    return found
