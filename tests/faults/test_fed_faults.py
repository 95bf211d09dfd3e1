"""What is fed: every kind of NumPy array into every type, by every way in.

A value comes out as it was, or is refused by words that say what it is. The pictures
of a folder are fed, too: each mode of PNG and JPEG.
"""

import io
import itertools
import struct
import zlib

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from PIL import Image

from helpers.errors import DataError
from helpers.fitting import fitted
from helpers.inherited import describe, open_model
from helpers.queues import feed_queue, running_queues
from helpers.records import folders, wire

BFLOAT16 = tf.bfloat16.as_numpy_dtype
# Rows of two values of every kind that NumPy has.
ARRAYS = {
    **{code: np.array([1, 0], code) for code in "?bBhHiIlLqQefdgFDG"},
    "bfloat16": np.array([1, 0], BFLOAT16), "float8": np.array(
        [1, 0], tf.dtypes.experimental.float8_e4m3fn.as_numpy_dtype),
    "large": np.array([2**40 + 1, -(2**40)]), "huge": np.array([2**64 - 1, 0], "Q"),
    "negative": np.array([-1, 3], "b"), "half": np.array([0.5, 1]),
    "nan": np.array([np.nan, np.inf]), "1e300": np.array([1e300, 1]),
    "complex": np.array([1 + 1j, 2]), "objects": np.array([1, 2], object),
    "mixed": np.array([1, b"x"], object), "None": np.array([None, 1], object),
    "dates": np.array(["2019", "2020"], "M8[Y]"), "spans": np.array([1, 2], "m8[s]"),
    "fields": np.array([(1, 2), (3, 4)], "i4,i4"), "texts": np.array(["ä", "b\0"]),
    "bytes": np.array([b"ab", b"cd"]), "cut": np.array([b"ab\0", b"c"]),
    "object bytes": np.array([b"ab\0\0", b"c"], object), "void": np.zeros(2, "V3"),
    "list of bytes": [b"ab\0\0", b"\0"], "list of texts": ["a\0", "ü"],
    "list": [1, 2], "ragged": [[1], [1, 2]], "masked": np.ma.array(
        [1, 2], mask=[0, 1]), "masked inside": [np.ma.masked, 1],
    "not masked": np.ma.array([1, 2], mask=[0, 0]), "masked texts": np.ma.array(
        [b"a", b"b"], mask=[1, 0]), "big-endian": np.array([1, 2], ">i4"),
    "strided": np.arange(8)[::4], "0-d": np.array(3),
}
TYPES = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.uint8, tf.int16,
         tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64, tf.bool, tf.complex64,
         tf.complex128, tf.string]
# What NumPy itself has lost already, or what has no kind in TensorFlow.
NEVER = {"masked", "masked inside", "masked texts", "ragged", "None", "mixed", "cut",
         "dates", "spans", "fields", "void"}


def same(value, array, dtype):
    """Whether an array holds exactly these values, rounded only in floats."""
    given = list(value) if np.ndim(value) else [value]
    for old, new in zip(given, np.ravel(array).tolist(), strict=True):
        if dtype == tf.string:
            if old != new or not isinstance(new, (str, bytes)):
                return False
            continue
        old = complex(old) if dtype.is_complex else old
        if dtype.is_floating or dtype.is_complex:
            close = 0.13 if dtype.size < 4 else 1e-6
            if not np.isclose(complex(old), complex(new), rtol=close, equal_nan=True):
                return False
        elif int(new) != old:
            return False
    return True


CASES = list(itertools.product(ARRAYS, TYPES))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
def test_a_value_is_the_same_in_another_type_or_refused(dtype, tried):
    tried(len(ARRAYS))
    kept = set()
    for name, value in ARRAYS.items():
        try:
            array = fitted(value, dtype, "x: input y")
        except ValueError as error:
            text = str(error)
            assert text.startswith("The value for x: input y") and len(text) < 220, text
            assert "\n" not in text
            continue
        assert array.dtype == (object if dtype == tf.string else dtype.as_numpy_dtype)
        assert same(value, array, dtype), (name, array)
        assert name not in NEVER, name
        kept.add(name)
    texts = {"texts", "bytes", "object bytes", "list of bytes", "list of texts"}
    small = {"?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "g",
             "bfloat16", "list", "big-endian", "not masked"} - {
                 *(() if dtype != tf.bool else ("list", "big-endian", "not masked"))}
    assert (texts if dtype == tf.string else small) <= kept


@pytest.mark.parametrize(("name", "dtype", "words"), [
    ("complex", tf.float32, "is complex and cannot be"),
    ("objects", tf.int32, "an array of objects and cannot be converted to int32"),
    ("texts", tf.float32, "array of texts"), ("dates", tf.int64, "array of dates"),
    ("masked", tf.float32, "masked elements"), ("masked inside", tf.float32, "mask"),
    ("cut", tf.string, "drops trailing zero"), ("list", tf.string, "1, which cannot"),
    ("huge", tf.int64, "18446744073709551615, which cannot be converted to int64"),
    ("1e300", tf.float32, "1e.300, which"), ("half", tf.int32, "0.5, which")])
def test_the_words_say_what_it_is(name, dtype, words):
    with pytest.raises(ValueError, match=words):
        fitted(ARRAYS[name], dtype, "x")


def by_model(dtype, value, tmp_path):
    with tf.Graph().as_default() as graph:
        tf.identity(tf1.placeholder(dtype, [None], name="x"), name="y")
    path = tmp_path / f"{dtype.name}.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    with open_model(path, outputs=["y"]) as model:
        return model(x=value)


def by_queue(dtype, value, tmp_path):
    with tf.Graph().as_default(), tf1.Session() as session:
        queue = tf.queue.FIFOQueue(9, [dtype], [[]])
        feed_queue(queue, value, epochs=1)
        rows = queue.dequeue()
        with running_queues(session, stall=20) as runner:
            return np.array(list(runner.steps(rows)),
                            object if dtype == tf.string else None)


@pytest.mark.parametrize("way", [by_model, by_queue])
def test_every_way_in_goes_through_it(way, tmp_path):
    for name, dtype in [("object bytes", tf.string), ("list of bytes", tf.string),
                        ("list of texts", tf.string), ("large", tf.int64),
                        ("D", tf.complex64), ("bfloat16", tf.float32)]:
        if name.startswith("list") and way is by_queue:
            value = np.array(ARRAYS[name], object)
        else:
            value = ARRAYS[name]
        wanted = [one.encode() if isinstance(one, str) else one for one in value]
        assert list(way(dtype, value, tmp_path)) == wanted
    for name, dtype in [("cut", tf.string), ("masked", tf.float32), ("huge", tf.int64),
                        ("complex", tf.float32), ("objects", tf.float32)]:
        with pytest.raises(ValueError):
            way(dtype, ARRAYS[name], tmp_path)


@pytest.mark.parametrize("shape", [(3, 0), (3, 0, 2), (3, 2, 0)])
def test_rows_without_a_value_are_refused(shape, tmp_path):
    """In TensorFlow 2.21 they end the process."""
    with tf.Graph().as_default():
        for source in (np.zeros(shape), lambda: iter(np.zeros(shape))):
            queue = tf.queue.FIFOQueue(9, [tf.float64], [shape[1:]])
            with pytest.raises(ValueError, match="must not be empty"):
                feed_queue(queue, source, epochs=1)
                next(tf1.get_collection(tf1.GraphKeys.QUEUE_RUNNERS)[-1]._chunks)


# Lengths that a record states ------------------------------------------------------


@pytest.mark.parametrize(
    "length", [2**20, 2**31, 2**32, 2**40, 2**62, 2**63, 2**64 - 1])
@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("before", [0, 3])
def test_a_length_under_a_right_checksum_does_not_end_the_process(
        length, compression, before, tmp_path):
    header = struct.pack("<Q", length)
    with tf.io.TFRecordWriter(str(tmp_path / "plain")) as writer:
        for _ in range(before):
            writer.write(b"whole")
    data = (tmp_path / "plain").read_bytes() + header
    data += struct.pack("<I", wire.masked_crc(header)) + b"x" * 100
    packer = {"": None, "GZIP": 31, "ZLIB": 15}[compression]
    if packer:
        packing = zlib.compressobj(wbits=packer)
        data = packing.compress(data) + packing.flush()
    path = tmp_path / "x.tfrecord"
    path.write_bytes(data)
    if before:  # what is whole is counted, and it says where it ends
        assert describe(path).records == before
        assert f"CUT SHORT in record {before} at byte {21 * before}" in str(
            describe(path))
    else:
        with pytest.raises(DataError, match="record 0 at byte 0.* cut"):
            describe(path)
    with pytest.raises(DataError, match="cut"):
        wire.walk(path, compression)


# Pictures --------------------------------------------------------------------------

SIDE = 32
RAMP = np.tile(np.linspace(0, 255, SIDE), (SIDE, 1))


def grey(mode):
    return Image.fromarray(RAMP.astype(np.uint8)).convert(mode)


def picture(mode):
    """Returns a ramp from black to white in one mode, and what it should look like."""
    wide = np.rint(RAMP * 257).astype(np.uint16)
    if mode == "I;16":
        return Image.fromarray(wide), RAMP
    if mode == "1":
        return grey("1"), None
    if mode in ("LA", "RGBA"):  # half of it transparent: white paper shines through
        whole, alpha = grey(mode), np.full((SIDE, SIDE), 255, np.uint8)
        alpha[SIDE // 2:] = 0
        whole.putalpha(Image.fromarray(alpha))
        return whole, np.where(alpha, RAMP, 255)
    if mode == "P transparent":
        whole = grey("L").convert("P")
        whole.info["transparency"] = whole.getpixel((0, 0))
        return whole, np.where(RAMP < 4, 255, RAMP)
    return grey(mode), RAMP


MODES = [("PNG", mode) for mode in ("1", "L", "P", "LA", "RGB", "RGBA", "I;16",
                                    "P transparent")]
MODES += [("JPEG", mode) for mode in ("1", "L", "RGB", "CMYK", "YCbCr")]


@pytest.mark.parametrize("turn", range(9))
def test_each_mode_of_each_format_looks_as_it_should(turn, tmp_path, tried):
    """In each of the ways in which a camera says that it was held."""
    tried(len(MODES))
    for kind, mode in MODES:
        whole, wanted = picture(mode)
        exif = Image.Exif()
        if turn:
            exif[0x0112] = turn
        more = {"quality": 95} if kind == "JPEG" else {}
        if mode == "P transparent":
            more["transparency"] = whole.info["transparency"]
        path = tmp_path / f"x.{kind.lower()}"
        whole.save(path, kind, exif=exif, **more)
        made = Image.open(io.BytesIO(folders._as_jpeg(path, SIDE)))
        assert made.mode == "RGB" and made.size == (SIDE, SIDE)
        found = np.asarray(made).astype(float)
        assert np.ptp(found, axis=2).max() < 12, (kind, mode)  # it was grey
        if wanted is not None:
            turns = {2: np.fliplr, 3: lambda a: np.rot90(a, 2), 4: np.flipud,
                     5: np.transpose, 6: lambda a: np.rot90(a, -1),
                     7: lambda a: np.rot90(a, 2).T, 8: np.rot90}
            wanted = turns.get(turn, lambda a: a)(wanted)
            away = np.abs(found.mean(2) - wanted)
            assert away.mean() < 3, (kind, mode, away.mean())


def test_a_mode_of_neither_is_refused_by_name():
    for mode in ("F", "LAB", "HSV"):
        with pytest.raises(ValueError, match=f"mode {mode}"):
            folders._coloured(Image.new(mode, (9, 9)))
