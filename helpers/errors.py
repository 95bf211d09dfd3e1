"""Exceptions of this package, and the extraction of TensorFlow's error cause."""

import re


class DataError(Exception):
    """Raised when a file is damaged, incomplete, or of the wrong kind.

    The message names the file, the record if there is one, the cause, and the fix, all
    on one line.
    """


class PipelineStalled(Exception):
    """Raised when an input pipeline delivers nothing within its time limit."""


# TensorFlow surrounds the cause with the stack trace of the op's creation.
_NOISE = re.compile(
    r"^(Graph execution error|Detected at node|Node:|Original stack trace"
    r"|Originally defined at|\d+ root error|\t|  )"
)
# TensorFlow lists the first of several errors as "(0) CODE: cause".
_FIRST_OF_MANY = re.compile(r"^\s*\(0\) [A-Z_]+: (.*)$", re.M)


def printable(text: str) -> str:
    """Returns a text that somebody else wrote, with each control character escaped.

    Otherwise a name in a file could clear the screen, or forge a line of a report.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode()
                   for c in text)


def first_line(error: BaseException) -> str:
    """Returns the line of an error message that states its cause.

    Args:
      error: Any exception. The message of a TensorFlow runtime error has thousands of
        characters about where each op was built, with the cause in the middle.

    Returns:
      The cause on one line, without local file names and op markers.
    """
    message = getattr(error, "message", None)
    if not isinstance(message, str) or not message:
        message = str(error)
    first = _FIRST_OF_MANY.search(message)
    if first:
        message = first.group(1)
    for line in message.splitlines():
        if line.strip() and not _NOISE.match(line):
            # In eager mode, a node name precedes the cause, and markers follow it.
            line = re.sub(r"^\{\{function_node .*?\}\}\s*", "", line)
            line = re.sub(r"^Error in user-defined .* iterator: \S+: ", "", line)
            return re.sub(r"\s*(\[\[.*|\[Op:.*)$", "", line).strip()
    return message.strip().split("\n")[0]
