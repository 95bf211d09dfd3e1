"""Project of old code: its files, their imports, and its entry points."""

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
    """Degree of certainty that a property holds, judged from the text alone."""

    NO = 0
    PERHAPS = 1
    YES = 2


class File:
    """File of old code with the names that it uses.

    Attributes:
      decoded: Text and encoding of the file.
      parts: The cells of a notebook, or one part for the whole file. There are none if
        the file could not be read.
      uses: Uses of library names.
      names: Full names of the file's local names.
      words: Remarks, such as "Python 2" or "syntax error in line 3".
      imports: Files of the project that this file imports, in order.
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
        """Reads the file, after the project files that it imports.

        A file that cannot be read is given up, and the others are read nevertheless.
        """
        try:
            self._read()
        except Exception as error:  # whatever a stranger's file raises
            self.give_up(error)

    def give_up(self, error: Exception) -> None:
        """Takes it for a file of which nothing is known, so that the others go on."""
        said = isinstance(error, sources.Unreadable)
        self.words.append(str(error) if said else
                          f"The file cannot be read: {type(error).__name__}: {error}")
        self.parts, self.uses, self.names, self.imports = [], [], {}, {}

    def _read(self) -> None:
        reader = Reader(self._exports, self.project.methods)
        self.decoded = sources.decoded(self.path, self.words)
        cells = list(sources.cells(self.decoded.text)) \
            if self.path.suffix == ".ipynb" else [(None, self.decoded.text)]
        if sources.is_snippet("\n".join(code for _, code in cells)):
            reader.top.names["tf"] = "tf"
            self.words.append("nothing imports tf, so it is taken for TensorFlow")
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
        """The set of TensorFlow versions that the uses suggest."""
        return {fates.age(use) for use in self.uses}

    @functools.cached_property
    def origins(self) -> Origins:
        """The modules that the values in the file come from."""
        return Origins([part.tree for part in self.parts if part.tree], self.names)

    @property
    def whole(self) -> bool:
        """Whether all lines of the file could be parsed."""
        return bool(self.parts) and all(part.tree for part in self.parts)

    @property
    def code(self) -> str:
        """The original text of the file."""
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
    """All files of a project, for questions that one file cannot answer."""

    def __init__(self, paths: list[Path], root: Path):
        """Reads all files once, each after the files that it imports."""
        self.root = root if root.is_dir() else root.parent
        self.files = {path: File(self, path) for path in paths}
        self._read: set[File] = set()
        for file in self.files.values():
            self.read(file)

    def read(self, file: File) -> File:
        """Reads a file unless it was read before, and returns it."""
        if file not in self._read:
            self._read.add(file)
            file.read()
        return file

    # Modules that belong to the project.

    def own(self, path: Path, module: str, level: int = 0) -> File | None:
        """Returns the project file that an import refers to, or `None`.

        A folder is searched if Python would search it: the file's own folder (for
        Python 2, and for a program that is started there), the root, the folders added
        to `sys.path`, and all folders between that are not packages. A package with the
        name of an installed library is ignored for imports from inside the package.

        Args:
          path: Path of the importing file.
          module: Name of the imported module.
          level: Number of leading dots in a relative import.
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
        """Returns whether a module is a folder of the project.

        A module with the name of an installed package is not, because the package takes
        precedence.
        """
        first = module.partition(".")[0]
        return bool(module) and not is_package(first) and any(
            (home / first).is_dir() for home in (path.parent, self.root))

    def holds_package(self, folder: Path) -> bool:
        """Returns whether a folder is a Python package."""
        return folder / "__init__.py" in self.files

    @functools.cached_property
    def _modules_here(self) -> set[str]:
        """The last components of all module names in the project."""
        return {path.parent.name if path.stem == "__init__" else path.stem
                for path in self.files}

    @functools.cached_property
    def _given(self) -> list[Path]:
        """The folders that the project adds to `sys.path`."""
        given = [home / os.fsdecode(word) for path in self.files
                 for word in _PATHS.findall(_raw(path))
                 for home in {path.parent, self.root}]
        return [Path(os.path.normpath(folder)) for folder in given if folder.is_dir()]

    @functools.cached_property
    def methods(self) -> set[str]:
        """The names of all methods that the project defines."""
        return {os.fsdecode(name) for path in self.files
                for name in _METHODS.findall(_raw(path))}

    @functools.cached_property
    def taken(self) -> dict[File, dict[str, File]]:
        """The names that other files import from each file."""
        return handed.taken(self)

    # Programs and the files that they consist of.

    @functools.cache  # noqa: B019 (a run has one project)
    def reached(self, file: File) -> set[File]:
        """Returns a file and all files that it imports, directly or not."""
        return _closure(file, lambda one: one.imports)

    @functools.cached_property
    def starts(self) -> list[File]:
        """The entry points: files with a main block or without importers."""
        imported = {other for file in self.files.values() for other in file.imports}
        return [file for file in self.files.values() if file.path.name != "__init__.py"
                and (file not in imported or MAIN.search(file.code))]

    @property
    def likely_start(self) -> File | None:
        """The script that is probably run first, judged by main block and name."""
        scripts = [file for file in self.starts if file.path.suffix == ".py"]
        return min(scripts, default=None, key=lambda file: (
            not MAIN.search(file.code), "test" in file.path.stem,
            not any(is_tensorflow(use.name) for use in file.uses), len(file.path.parts),
            not file.path.stem.startswith(("train", "main", "run")), file.path))

    @functools.cached_property
    def _starts_of(self) -> dict[File, list[File]]:
        found: dict[File, list[File]] = {}
        for start in self.starts:
            for file in self.reached(start):
                found.setdefault(file, []).append(start)
        return found

    def programs(self, file: File) -> set[File]:
        """Returns all files of the programs that a file belongs to."""
        return self.reached(file).union(
            *(self.reached(start) for start in self._starts_of.get(file, ())))

    @functools.cache  # noqa: B019
    def homes(self, file: File) -> set[Path]:
        """Returns the folders from which a file can import a module by its bare name.

        These are the folders of all programs that reach the file, because a program's
        folder is `sys.path[0]`. If a program is started with `python -m package.start`,
        it is the folder that contains the package.
        """
        starts = self._starts_of.get(file, ())
        return {self._home(start) for start in starts}.union(
            *map(self._package_homes, starts)) or {self.above_packages(file)}

    def above_packages(self, file: File) -> Path:
        """Returns the folder from which a file's package is imported."""
        home = file.path.parent
        while self.holds_package(home) and home != self.root:
            home = home.parent
        return home

    @functools.cache  # noqa: B019
    def _package_homes(self, start: File) -> set[Path]:
        """Returns the parent folders from which a program imports by full names."""
        above = start.path.parents
        inside = [home for home in above[1:]
                  if home == self.root or self.root in home.parents]
        return {home for home in inside for word in self._modules(start)
                if home / word in above}

    def _modules(self, file: File) -> set[str]:
        """Returns the top-level packages that a file imports."""
        return {name.partition(".")[0] for part in file.parts for node in part.nodes
                for name in modules_of(node)}

    @functools.cache  # noqa: B019
    def _home(self, start: File) -> Path:
        relative = any(getattr(node, "level", 0) for part in start.parts
                       for node in part.nodes)  # `python -m package.start`
        return self.above_packages(start) if relative else start.path.parent

    def together(self, file: File) -> set[File]:
        """Returns all files connected to a file by imports in any direction."""
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
        """Returns the uses of an imported name in all files connected by imports."""
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

    # Properties that depend on all connected files.

    @functools.cache  # noqa: B019
    def is_old(self, file: File) -> bool:
        """Returns whether a file should run on `compat.v1`.

        A file with old names should, unless a program with it contains code that needs
        TensorFlow 2. A file without old names should only if all programs with it are
        old, because a module that old programs share with current ones must not change.
        """
        sure = any if "old" in file.ages else all
        starts = self._starts_of.get(file, [file])
        return not self.is_todays(file) and sure(
            "old" in self._ages(start) for start in starts)

    def is_todays(self, file: File) -> bool:
        """Returns whether a program with this file has code that needs TensorFlow 2."""
        return any("today's" in self._ages(start)
                   for start in self._starts_of.get(file, [file]))

    @functools.cache  # noqa: B019
    def _ages(self, start: File) -> set[str]:
        """Returns the TensorFlow versions that a program's files suggest.

        TensorFlow 1.15 also has the "eager" features. They suggest TensorFlow 2 only if
        no file combines them with old names and no file enables eager execution.
        """
        files = self.reached(start)
        ages = set().union(*(one.ages for one in files))
        eager = any("eager" in one.ages and "old" not in one.ages for one in files)
        return ages | {"today's"} if eager and not any(
            "enable_eager" in use.name for one in files for use in one.uses) else ages

    def is_mixed(self, file: File) -> bool:
        """Returns whether a file with old names belongs to a TensorFlow 2 program."""
        return "old" in file.ages and not self.is_old(file)

    def has_keras(self, file: File) -> bool:
        """Returns whether a program with this file imports the `keras` package."""
        return any(full.partition(".")[0] == "keras" for one in self.programs(file)
                   for full in one.names.values())

    def names_keras(self, file: File) -> bool:
        """Returns whether a file's programs use Keras, in either package."""
        return self.has_keras(file) or any(
            use.name.startswith("tf.keras") for one in self.programs(file)
            for use in one.uses)

    @functools.cache  # noqa: B019
    def python2(self, file: File) -> Certainty:
        """Returns how certain it is that a file was written for Python 2.

        Syntax of Python 2, or a name that Python 3 has removed, makes it certain. A
        method name does not, because a class may define a method `iteritems` itself.
        """
        files = self.programs(file)
        signs = {use.name[:1] for one in files for use in one.uses
                 if (row := row_of(use.name)) and row.rule.since == "Python 3.0"}
        if signs - {"."} or any("Python 2" in one.words for one in files):
            return Certainty.YES
        return Certainty.PERHAPS if signs else Certainty.NO

    # Origins of values.

    def is_renamed_method(self, use: Use) -> Certainty:
        """Returns how certain it is that a call means the renamed method.

        It does not if no program with this file imports a module that has the method.
        """
        return self.gives({*row_of(use.name).of}, use.receiver, use.part)

    def gives(self, modules: set[str], node, part: Part) -> Certainty:
        """Returns how certain it is that a value comes from the given modules."""
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
        """Returns the top-level packages that a file's programs import."""
        return {canonical(name) for one in self.programs(file)
                for name in self._modules(one)}

    @functools.cache  # noqa: B019
    def is_of_then(self, file: File) -> bool:
        """Returns whether a file belongs to an old program.

        It does if it should run on `compat.v1`, if it was written for Python 2, or if
        it uses no TensorFlow and the project has old files.
        """
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
    """Returns whether a module is in the library of Python 2 or 3."""
    row = row_of(module)
    return module in sys.stdlib_module_names or bool(
        row and row.rule.since == "Python 3.0")


def _raw(path: Path) -> bytes:
    """Returns the bytes of a file, or none if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _closure(file: File, near: Callable[[File], Iterable[File]]) -> set[File]:
    """Returns a file and all files that can be reached from it."""
    found, open_ = {file}, [file]
    while open_:
        new = {*near(open_.pop())} - found
        found |= new
        open_ += new
    return found
