"""Damaged pictures: what the check accepts and what training decodes is one set."""

import io

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings, strategies
from PIL import Image

from helpers import jpeg, records
from helpers.errors import DataError

SIZE = 32


def picture(mode: str = "RGB", **options) -> bytes:
    """A picture of noise, whose every byte counts."""
    channels = {"RGB": 3, "CMYK": 4, "L": 1}[mode]
    pixels = np.random.default_rng(7).integers(0, 256, (SIZE, SIZE, channels), np.uint8)
    image = Image.fromarray(pixels.squeeze(), mode)
    stream = io.BytesIO()
    image.save(stream, "JPEG", **options)
    return stream.getvalue()


KINDS = {
    "colour": picture(quality=90),
    "best": picture(quality=100, subsampling=0),
    "half": picture(quality=90, subsampling=1),
    "grey": picture("L", quality=75),
    "CMYK": picture("CMYK", quality=75),
    "progressive": picture(quality=75, progressive=True),
    "restarts": picture(quality=75, restart_marker_blocks=2),
}


@pytest.fixture(scope="module")
def parse():
    """The pipelines' parser, run as both pipelines do, on one picture."""
    parser = records.image_label_parser(SIZE)

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def parsed(record):
        return parser(record)

    def is_decoded(contents: bytes) -> bool:
        try:
            parsed(records.make_example(contents, 1).SerializeToString())
        except tf.errors.InvalidArgumentError:
            return False
        return True

    return is_decoded


def is_accepted(contents: bytes) -> bool:
    try:
        jpeg.check_jpeg(contents, "x.jpg")
    except DataError as error:
        assert "x.jpg " in str(error) and "\n" not in str(error)
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_whole_pictures_are_accepted(parse, kind):
    assert is_accepted(KINDS[kind]) and parse(KINDS[kind])


@settings(derandomize=True, deadline=None, max_examples=100,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=strategies.data())
def test_random_damage_check_and_decoder_agree(parse, data):
    damaged = bytearray(KINDS[data.draw(strategies.sampled_from(sorted(KINDS)))])
    for _ in range(data.draw(strategies.integers(1, 3))):
        at = data.draw(strategies.integers(0, len(damaged) - 1))
        length = data.draw(strategies.integers(1, 40))
        match data.draw(strategies.sampled_from(["flip", "cut", "zero", "end"])):
            case "flip":
                damaged[at] ^= data.draw(strategies.integers(1, 255))
            case "cut":
                del damaged[at : at + length]
            case "zero":
                damaged[at:] = bytes(len(damaged) - at)
            case "end":
                del damaged[at:]
        if not damaged:
            break
    contents = bytes(damaged)
    # A header of another size is no damage for the check, and is for the parser.
    if is_accepted(contents) and header_size(contents) != (SIZE, SIZE):
        return
    assert is_accepted(contents) == parse(contents)


def header_size(contents: bytes) -> tuple[int, int]:
    return tuple(tf.io.extract_jpeg_shape(contents)[:2].numpy().tolist())


@pytest.mark.parametrize("size", [(4096, 4097), (65500, 65500), (65500, 257)])
def test_sizes_that_a_header_only_states(size):
    """A bomb is refused by its header: nothing of it is decoded."""
    contents = bytearray(KINDS["colour"])
    frame = contents.index(b"\xff\xc0")
    contents[frame + 5 : frame + 9] = b"".join(n.to_bytes(2, "big") for n in size)
    with pytest.raises(DataError, match="limit of 16777216 pixels"):
        jpeg.check_jpeg(bytes(contents), "x.jpg")
