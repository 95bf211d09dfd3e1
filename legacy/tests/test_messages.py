"""messages/errors.md: each message is raised by the code under it."""

import html
import itertools
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.files import ROOT
from tests.limits import LIMIT
from tf1tools.messages import command, shapes
from tf1tools.messages import lookup as messages

ENTRIES = messages.entries()
each_entry = pytest.mark.parametrize("entry", [e for e in ENTRIES if e.raises],
                                     ids=lambda e: e.patterns[0][:60])
REPORTS = ROOT / "legacy" / "tests" / "reports"


def run(code):
    """Runs code of the page as the page says."""
    names = {"tf": tf, "tf1": tf1, "np": np}
    if not re.search(r"\bsess\b", code):
        exec(code, names)
        return
    with tf.Graph().as_default(), tf1.Session() as names["sess"]:
        exec(code, names)


@each_entry
def test_a_message_is_raised_by_its_code_and_by_no_other(entry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception) as caught:
        run(entry.raises)
    kind, _, words = entry.patterns[0].partition(": ")
    assert caught.type.__name__ == kind, caught.value
    assert entry.fits(str(caught.value)), str(caught.value)[:300]
    assert messages.look_up(str(caught.value))[0][0] == entry
    run(entry.works)


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.works and not e.raises],
                         ids=lambda e: e.patterns[0][:60])
def test_the_repair_of_what_cannot_be_raised_here_runs(entry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(entry.works)


@pytest.mark.parametrize("part", ["", ".train", ".image", ".nn", ".summary",
                                  ".losses", ".metrics"])
def test_a_name_that_is_missing_is_told_by_whose_module_it_is(part):
    """Of TensorFlow 2's own the answer is compat.v1, of no use to compat.v1."""
    for root in (tf, tf1):
        module = root
        for name in part.split(".")[1:]:
            module = getattr(module, name)
        with pytest.raises(AttributeError) as caught:
            getattr(module, "is_of_no_version")  # noqa: B009
        [(entry, *_), *_] = messages.look_up(f"AttributeError: {caught.value}")
        told = "import tensorflow.compat.v1 as tf` keeps it" in entry.text
        assert told == (root is tf), str(caught.value)


SENTENCES = [e for e in ENTRIES if len(e.patterns[0].split(". ")[0]) > 60
             and ". " in e.patterns[0]]


@pytest.mark.parametrize("entry", SENTENCES, ids=lambda e: e.patterns[0][:60])
def test_the_first_sentence_alone_is_known(entry):
    first = entry.patterns[0].split(". ")[0]
    first = first.replace("…", "x/y").replace("⟨Op⟩", "MatMul")
    assert entry in messages.look_up(first)[0], first


def test_each_entry_names_its_fix_and_a_lesson_that_is_there():
    for entry in ENTRIES:
        _, _, fix = entry.text.partition("**Fix:**")
        assert "`" in fix, f"what to type? {entry.patterns[0]}"
        raised = entry.section not in messages.UNRAISED
        assert bool(entry.raises) == raised, entry.patterns[0]
        [lesson] = re.findall(r"Lesson: \[\w+\]\((?:\.\./)+(.+?)\)\.$", entry.text)
        assert (ROOT / lesson).exists(), lesson
    headings = messages.PAGE.read_text("utf-8").count("\n### ")
    assert len(ENTRIES) == headings >= 50


@pytest.mark.parametrize(("message", "code", "words"), [
    ("tensorflow.python.framework.errors_impl.InvalidArgumentError: You must feed a "
     "value for placeholder tensor 'x' with dtype float\n\t [[{{node x}}]]", 0,
     "Fix: feed it in this call too"),
    ("Fetched 1.5, of an invalid type: no string or Tensor",
     0, "The nearest ones are:\n  TypeError: Argument 'fetch'"),
    ("ValueError: Cannot feed value of shape (3,) for Tensor y:0, which has shape "
     "(?, 1)", 0, "for a column `labels.reshape(-1, 1)`"),
    ("out of cheese", 1, "tf1 watch PROGRAM")])
def test_explain_finds_a_pasted_message_without_any_package(message, code, words):
    done = subprocess.run(
        [sys.executable, "-S", ROOT / "legacy" / "tf1.py", "explain", message],
        capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == code and words in done.stdout, done.stdout + done.stderr


def reports():
    """Returns public reports: where, what was told, and the expected answer."""
    for page in sorted(REPORTS.glob("*.txt")):
        for block in re.split(r"^== ", page.read_text("utf-8"), flags=re.M)[1:]:
            head, _, log = block.partition("\n")
            where, verdict, answer = head.split(" | ")
            yield pytest.param(verdict, answer, log, id=where)


@pytest.mark.parametrize("verdict, answer, log", list(reports()))
def test_a_public_report_gets_its_answer(verdict, answer, log):
    fitting, _ = messages.look_up(log)
    said = fitting[0].patterns[0] if fitting else "nothing"
    assert said == answer and verdict in ("solved", "partly", "nothing")


@pytest.mark.parametrize("log", [
    'File "/usr/lib/site-packages/django/core/handlers/base.py", line 113, in get\n'
    "TypeError: view() missing 1 required positional argument: 'pk'",
    'File "/usr/lib/site-packages/torch/nn/modules/module.py", line 9, in call\n'
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB",
    "RuntimeError: Error(s) in loading state_dict for Net: size mismatch",
    'File "/usr/lib/site-packages/flask/app.py", line 2464\nKeyError: \'Image\'',
    "KeyError: 'images'", "IndexError: list index out of range",
    'File "net.py", line 3, in batch_norm\nKeyError: \'moving_mean\'',
    "ValueError: Error: TypeError: RuntimeError: KeyError: InternalError: "
    "AttributeError: ImportError: [[node x]] op tensor shape"])
def test_another_library_and_an_error_that_says_nothing_get_no_answer(log):
    assert not messages.look_up(log)[0], messages.look_up(log)[0][0].patterns[0]


def each_line(prefix):
    return lambda text: prefix + textwrap.fill(text, 80).replace("\n", f"\n{prefix}")


WHOLE = {
    "in double quotes": lambda text: text.replace("'", '"'),
    "in backticks": lambda text: text.replace("'", "`"),
    "in curly quotes": lambda text: re.sub("'([^']*)'", "\u2018\\1\u2019", text),
    "without quotes": lambda text: re.sub("['\"`]", "", text),
    "wrapped": lambda text: textwrap.fill(text, 80),
    "wrapped inside of words": lambda text: re.sub("(?s)(.{80})", "\\1\n", text),
    "as a repr": lambda text: repr(textwrap.fill(text, 80)),
    "as a page has it": html.escape,
    "small": str.lower,
    "behind times": each_line("2024-05-01T10:00:00.123Z "),
    "behind a container's name": each_line("worker_1  | "),
    "behind pytest's E": each_line("E       "),
    "behind a rank": each_line("[1,0]<stderr>:"),
    "in a quotation": each_line("> "),
    "behind a logger's name": lambda text: f"ERROR:root:{text}"}
CUT = {
    "without its last quarter": (lambda text: text[:len(text) * 3 // 4], 2 / 5),
    "up to three dots": (lambda text: text[:len(text) * 3 // 4] + "...", 2 / 5),
    "without its first quarter": (lambda text: text[len(text) // 4:], 2 / 3)}


def told(skip):
    """Yields a third of the families, each with a message of it."""
    for entry in ENTRIES[skip % 3::3]:
        if entry.section not in (messages.GENERAL, messages.NO_MESSAGE, messages.CUT):
            names = itertools.count(2)
            text = entry.patterns[0].replace("⟨Op⟩", "ThreeNN")
            yield entry, re.sub("…", lambda _, n=names: f" {next(n)} ", text).strip()


@pytest.mark.parametrize("form", WHOLE)
def test_a_message_is_known_in_every_form_that_people_paste(form):
    for entry, text in told(list(WHOLE).index(form)):
        pasted = WHOLE[form](text)
        if "ThreeNN" in text and form == "small":
            continue  # its capitals are all that tells an op from a key
        [(found, *_), *_] = messages.look_up(pasted)
        assert found == entry or _entry_that_fits_too(found, entry, pasted), pasted


def _entry_that_fits_too(found, entry, pasted):
    """Whether two families are of one text, as `logits` and any other argument."""
    return entry in messages.look_up(pasted)[0] and found.fits(pasted)


@pytest.mark.parametrize("form", CUT)
def test_a_message_that_is_cut_is_known_or_not_but_never_another(form):
    cut, share = CUT[form]
    seen = []
    for entry, text in told(list(CUT).index(form)):
        fitting = messages.look_up(cut(text))[0]
        seen.append(fitting[:1] == [entry])
        for found in fitting[:1]:  # another one stands there whole
            assert found == entry or messages.pattern_of(found, cut(text)), cut(text)
    assert sum(seen) > share * len(seen)


def test_a_traceback_without_its_last_line_is_told_by_its_place(capsys):
    log = """  File "train.py", line 12, in <module>
    saver.restore(sess, path)
  File "/usr/lib/python3/dist-packages/tensorflow/python/training/saver.py", line 9
    {self.saver_def.filename_tensor_name: save_path})
"""
    assert command.explain(log) == 0
    said = capsys.readouterr().out
    assert said.startswith("Perhaps: ") and "list_variables" in said, said
    assert "To decide: give the last line of the traceback" in said, said
    assert "train.py, line 12" in said, said
    whole = f"{log}NotFoundError: Key w not found in checkpoint"
    [entry, *_], _ = messages.look_up(whole)
    assert "Key" in entry.patterns[0]
    assert not messages.look_up(f"{log}cheese.NotHere: it is out")[0]
    assert not messages.look_up("why saver.restore(sess, path)?")[0]


CELLS = """
import sys, tensorflow as tf, tensorflow.compat.v1 as tf1
with tf.Graph().as_default():
    cell = tf1.nn.rnn_cell.BasicLSTMCell(4)
    cells = [cell] * 2 if sys.argv[1] == "one" else [
        tf1.nn.rnn_cell.BasicLSTMCell(4) for _ in range(2)]
    tf1.nn.dynamic_rnn(tf1.nn.rnn_cell.MultiRNNCell(cells), tf.ones([2, 3, 7]),
                       dtype=tf.float32)
"""


@pytest.mark.parametrize("layers", ["one", "two"])
def test_one_cell_in_all_layers_is_told_by_its_second_product(layers):
    """The cells need Keras 2, so another process runs them."""
    done = subprocess.run([sys.executable, "-c", CELLS, layers], capture_output=True,
                          text=True, timeout=LIMIT,
                          env={**os.environ, "TF_USE_LEGACY_KERAS": "1"})
    assert (done.returncode == 0) == (layers == "two"), done.stderr
    if layers == "one":
        [entry, *_], _ = messages.look_up(done.stderr)
        assert "for _ in range(layers)" in entry.text, entry.patterns[0]


def test_a_scope_that_reuses_is_opened_by_auto_reuse_and_not_by_false():
    """The fix of the entry on slots, and the one that older versions had."""
    for reuse, opens in [(tf1.AUTO_REUSE, True), (False, False)]:
        with tf.Graph().as_default(), tf1.variable_scope("", use_resource=True) as root:
            w = tf1.get_variable("w", [])
            root.reuse_variables()
            try:
                with tf1.variable_scope(tf1.get_variable_scope(), reuse=reuse):
                    tf1.train.AdamOptimizer().minimize(w * w)
            except ValueError as refused:
                assert not opens
                [entry, *_], _ = messages.look_up(f"ValueError: {refused}")
                assert "reuse=tf1.AUTO_REUSE" in entry.text
            else:
                assert opens


@pytest.mark.parametrize("op, named, words", [
    ("Transpose", "(op: 'Transpose')", "one entry for each axis"),
    ("MatMul", "(op: 'MatMul')", "as many columns on the left"),
    ("Conv2D", "(op: 'Conv2D')", "the filter's third number"),
    ("Thing", "(op: 'Thing')", "the op in the message")])
def test_the_op_decides_what_two_shapes_should_be(op, named, words):
    differ = ("Dimension must be 1 but is 3" if op == "Transpose" else
              "Dimensions must be equal, but are 1 and 3")
    log = f"ValueError: {differ} for 'net/{op}' {named}"
    [entry, *_], _ = messages.look_up(log)
    said = messages.answer(entry, log)
    assert words in said and said.startswith("Perhaps: ") == (op == "Thing"), said


def cases():
    """Yields each case of the page with a log that has its evidence alone."""
    for entry in ENTRIES:
        for case in entry.cases:
            for told in [case.example] if case.example else case.evidence:
                message = "" if entry.fits(told) else (
                    entry.patterns[0].replace("…", " a ").replace("⟨Op⟩", "ThreeNN"))
                name = f"{entry.patterns[0][:40]} {told[:40]}"
                yield pytest.param(entry, case, f"{message}\n{told}", id=name)


@pytest.mark.parametrize("entry, case, log", [
    one for one in cases() if one.values[1].kind != "shapes show"])
def test_a_case_is_the_answer_where_the_log_has_its_evidence(entry, case, log):
    assert messages.case_of(entry, log) == case
    said = messages.shown(entry, case=case)
    assert messages.shown(entry) != said and "Fix: " in said and "See lesson" in said


def test_every_item_of_an_entry_is_a_case():
    for entry in ENTRIES:
        assert "- If the" not in entry.text, entry.patterns[0]
        for case in entry.cases:
            assert bool(case.example) == (case.kind == "log fits"), case
            if case.kind == "shapes show":
                for one in case.evidence:
                    assert f"`{one}`" in shapes.relations.__doc__, one


FEED = "Cannot feed value of shape {} for Tensor 'x:0', which has shape '{}'"
VERSUS = "Incompatible shapes: {} vs. {}\n [[{{{{node gradients/sub_grad}}}}]]"
EQUAL = ("Dimensions must be equal, but are 4 and 6 for 'add_1' (op: 'Add') with input "
         "shapes: {}, {}.")
COUNTS = "Input to reshape is a tensor with {} values, but the requested shape {}"


@pytest.mark.parametrize("message, one, other, said", [
    (FEED, "(0, 0)", "(?, 6)", {"no rows", "another last number"}),
    (FEED, "(64,)", "(?, 28, 28, 1)", {"fewer axes", "one axis for many"}),
    (FEED, "()", "(?, 1)", {"fewer axes"}),
    (FEED, "(3, 28, 28)", "(28, 28)", {"more axes", "a multiple of the values",
                                       "three times the values"}),
    (FEED, "(50, 2352)", "(?, 784)", {
        "another last number", "a multiple of the values", "three times the values"}),
    (VERSUS, "[730,5]", "[30,5]", {"another first number"}),
    (VERSUS, "[4,20,20,3]", "[4,19,19,3]", {
        "other numbers between", "numbers one apart"}),
    (VERSUS, "[4,7110,80]", "[4,2000,80]", {"other numbers between"}),
    (VERSUS, "[1,10,12]", "[1,12,10]", {"the same numbers in another order"}),
    (VERSUS, "[3,4]", "[1,2]", {"a multiple of the values"}),
    (EQUAL, "[?,4]", "[?,6]", {"another last number"}),
    (EQUAL, "[?,4]", "[?,4]", set()),
    (COUNTS, "0", "has 768", {"no rows"}),
    (COUNTS, "784", "has 2352", {"a part of the values", "a third of the values"}),
    (COUNTS, "1328", "requires a multiple of 528", set()),
    ("In[0]: {}, In[1]: {}", "[1,2048]", "[2048,10,3]", {
        "fewer axes", "a part of the values"}),
    ("Call x() of shape[1]", "", "", set())])
def test_two_shapes_are_compared(message, one, other, said):
    found = shapes.relations(message.format(one, other))
    assert found - {"a part of the values"} == said - {"a part of the values"}
    assert said <= found or message.startswith("In")
    for entry in messages.look_up(f"ValueError: {message.format(one, other)}")[0][:1]:
        for case in entry.cases:
            if case.kind == "shapes show" and found & {*case.evidence}:
                assert messages.case_of(entry, message.format(one, other))


@pytest.mark.parametrize("log, words", [
    ("Incompatible shapes: [8,3] vs. [6,3]", "drop_remainder"),
    ("Incompatible shapes: [1,63,4] vs. [1,64,4]\n[[Node: gradients/Loss/"
     "BoxClassifierLoss/Loss/sub_grad/BroadcastGradientArgs]]", "image/object/bbox"),
    ("Incompatible shapes: [3,4] vs. [1,2]\n[[Node: gradients/add_grad/"
     "BroadcastGradientArgs]]", "validate_shape"),
    ("Input to reshape is a tensor with 224 values, but the requested shape has 256\n"
     "[[Node: decoder/while/BeamSearchDecoderStep/next_beam_probs]]", "`beam_width`"),
    ("Expected float32, got None of type '_Message' instead.", "np.array(values"),
    ("Expected int32, got 3.5 of type 'float' instead.", "`int(...)`"),
    ("None values not supported.\n in clip_by_value(g, -1, 1)", "compute_gradients"),
    ("None values not supported.\n in add_weight(shape, name)", "channels_last"),
    ("None values not supported.", "without `return`"),
    ("more than one MetaGraph. Got `tags=None`, but there are 0 MetaGraphs in the "
     "SavedModel with tag sets: []", "git lfs pull"),
    ("more than one MetaGraph. Got `tags=None`, but there are 2 MetaGraphs in the "
     "SavedModel with tag sets: [[], ['train']]", "without *train*")])
def test_the_same_message_gets_the_answer_of_its_evidence(log, words):
    """Six of these once got the most frequent cause, which their logs contradict."""
    log = log if log.startswith("more") else f"ValueError: {log}"
    if log.startswith("more"):
        log = ("ValueError: Importing a SavedModel with `tf.saved_model.load` requires "
               f"a `tags=` argument if there is {log}")
    [entry, *_], _ = messages.look_up(log)
    assert words in messages.answer(entry, log), entry.patterns[0]


@pytest.mark.parametrize("log, words", [
    ("I tensorflow/stream_executor/dso_loader.cc:111] successfully opened CUDA library "
     "libcublas.so locally\nImportError: No module named atari", "`sudo -E`"),
    ("NotFoundError: Failed to create a NewWriteableFile: o.pb\nE c:\\tf\\op_kernel.cc:"
     "943] OpKernel ('op: \"BestSplits\" device_type: \"CPU\"') for unknown op: "
     "BestSplits", "os.path.abspath"),
    ("AttributeError: 'Trainer' object has no attribute 'pretrain_saver'", "`grep -rn"),
    ("total loss: nan\nAttributeError: 'NoneType' object has no attribute 'reshape'",
     "smaller than `nan`"),
    ("AttributeError: 'NoneType' object has no attribute 'reshape'", "began as `None`"),
    ("img = img.copy()\nAttributeError: 'NoneType' object has no attribute 'copy'",
     "cv2.imread"),
    ("x = [tf.squeeze(v, [1]) for v in tf.split(1, n, words)]\nIndexError: list index "
     "out of range", "`tf.split(value, parts, axis)`"),
    ("words = [line.split () [0] for line in words]\nIndexError: list index out of "
     "range", "[[:space:]]"),
    ("a, b = line.split(',')[1], 0\nIndexError: list index out of range",
     "print(repr(line))"),
    ("I tensorflow/core/bfc_allocator.cc:645] Sum Total of in-use chunks: 6.88GiB\n"
     "Limit: 7392346112\nInUse: 7392346112", "--max_seq_length"),
    ("I tensorflow/core/grpc_server_lib.cc:211] Started server with target: grpc://a:1",
     "`server.join()`"),
    ("requests.exceptions.HTTPError: 400 for url: http://localhost:8501/v1/models/net:"
     "predict\n{'error': 'Unable to base64 decode'}", '.decode("utf-8")'),
    ("AttributeError: module 'tensorflow._api.v1.nn' has no attribute 'seq2seq'",
     "legacy_seq2seq"),
    ("AttributeError: module 'tensorflow._api.v1.nn' has no attribute 'other'",
     "before 1.0"),
    ("google.protobuf.text_format.ParseError: 110:25 : Expected string but found: "
     "'\u201c'", "sed -i"),
    ('File "main.py", line 12, in run\n    y = tf.f(x, units=3)\nTypeError: f() got an '
     "unexpected keyword argument 'units'", "print(tf.__version__)"),
    ('File "main.py", line 12, in run\n    y = agent.f(x, units=3)\nTypeError: f() got '
     "an unexpected keyword argument 'units'", '"def NAME"'),
    ("TypeError: cannot unpack non-iterable NoneType object", "without a `return`"),
    ("with open('out/log.txt', 'w') as f:\nFileNotFoundError: [Errno 2] No such file "
     "or directory: 'out/log.txt'", "os.makedirs"),
    ("with open('out/log.txt') as f:\nFileNotFoundError: [Errno 2] No such file or "
     "directory: 'out/log.txt'", "whole paths"),
    ("name: GeForce RTX 2080\nInternalError: Blas GEMM launch failed : a.shape=(3,4)",
     "1.12 or older")])
def test_the_error_counts_and_not_what_stands_around_it(log, words):
    """Each once got the answer of a notice or of another cause."""
    [entry, *_], _ = messages.look_up(log)
    assert words in messages.answer(entry, log), entry.patterns[0]


def test_an_answer_keeps_its_stars():
    bold = messages.Entry("", ("x",), "", "", "**Fix:** `f(**kwargs)` and **not** `g`")
    assert messages.shown(bold) == "x\n  Fix: `f(**kwargs)` and not `g`"


def test_a_log_is_read_as_a_terminal_shows_it():
    error = "NotFoundError: Key w not found in checkpoint"
    told = (f"\x1b[31mtensorflow.{error[:-9]}\n{error[-9:]}\x1b[0m", f"> {error}",
            f"W tensorflow/x/dso_loader.cc:55] Could not load dynamic library\n{error}",
            'raise NotFound("Key w not found in "\n    697       "checkpoint")',
            error.lower().replace(": ", ":"))
    for log in told:
        assert "Key" in messages.look_up(log)[0][0].patterns[0], log


def test_a_cause_is_named_before_what_follows_from_it():
    log = ("OutOfRangeError: FIFOQueue 'q' is closed and has insufficient elements "
           "(requested 3, current size 0)\nFailedPreconditionError: Attempting to use "
           "uninitialized value limit_epochs/epochs")
    assert "uninitialized" in messages.look_up(log)[0][0].patterns[0]
    errors = log.splitlines()
    assert messages.verdict(errors)[0] == errors[1]
    assert messages.verdict(["out of cheese"]) is None


@pytest.mark.parametrize("words, said", [
    ("my training changes nothing", False), ("It hangs after one step", True),
    ("KeyError: 'ThreeNN'", True), ("KeyError: 'label'", False)])
def test_plain_words_are_whole_words(words, said):
    assert bool(messages.look_up(words)[0]) == said


def test_an_answer_that_is_not_sure_names_the_place_too(capsys):
    message = "InvalidArgumentError: out of cheese [[{{node net/a}}]]"
    assert command.explain(message) == 0
    said = capsys.readouterr().out
    assert "Fix:" in said and "from the op net/a" in said, said


def test_of_a_message_that_no_page_knows_the_log_is_read(capsys):
    log = """  File "train.py", line 12, in <module>
    sess.run(step)
  File "/usr/lib/python3/dist-packages/tensorflow/python/client/session.py", line 9
tensorflow.python.framework.errors_impl.InternalError: out of cheese
\t [[{{node net/cheese_3}}]]"""
    assert command.explain(log) == 1
    said = capsys.readouterr().out
    for words in ("last error is InternalError", "the op net/cheese_3",
                  "train.py, line 12", "tf1 watch PROGRAM"):
        assert words in said, said


def test_an_answer_is_sure_only_if_the_error_itself_says_it():
    for message, decides in [
            ("TypeError: 'Thing' object is not callable", "the whole traceback"),
            ("it hangs", "tf1 watch PROGRAM"),
            ("UserWarning: Converting sparse IndexedSlices to a dense Tensor of "
             "unknown shape. This may consume a large amount of memory.",
             "compute_gradients"),
            ("Trying to share variable w, but specified sh...",
             "the whole message"),
            ("E tensorflow/core/x.cc:9] ptxas not found\nValueError: out of cheese",
             "the last error alone"),
            (LAST, "")]:
        [entry, *_], _ = messages.look_up(message)
        said = messages.answer(entry, message)
        assert said.startswith("Perhaps: ") == bool(decides), said
        assert decides in said.partition("To decide: ")[2], said


LAST = ("ValueError: Cannot feed value of shape (3,) for Tensor y:0, which has shape "
        "(?, 1)")


@pytest.mark.parametrize("noise", ["a" * 10**6, " " * 10**6, "\n" * 10**5,
                                   "step 7: loss 0.5\n" * 10**5,
                                   "E" * 10**5 + "\n" + "|" * 10**5])
@pytest.mark.parametrize("place", ["before", "after"])
def test_an_error_is_found_in_a_log_of_any_length(noise, place):
    """A test has no limit of its own: what takes too long ends with the suite's."""
    log = f"{noise}\n{LAST}" if place == "before" else f"{LAST}\n\n{noise}\n"
    [entry, *_], _ = messages.look_up(log)
    assert entry in messages.look_up(LAST)[0]


@pytest.mark.parametrize("noise", ["a", " ", "\n", "E ", "Error ", "|", "x.", "'"])
def test_what_is_searched_of_a_log_does_not_grow(noise):
    sizes = [len(messages._squeezed(noise * n)) for n in (10**5, 10**6)]
    assert max(sizes) < 2 * messages._WHOLE
