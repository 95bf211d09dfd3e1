"""Draws single objects on soft backgrounds, for all synthetic pictures.

Everything is determined by the random generator that is passed in, so the same seed
gives the same bytes on one machine with one version of Pillow.
"""

import io
import math
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (217, 48, 49),
    "blue": (43, 99, 222),
    "yellow": (245, 199, 32),
    "green": (43, 158, 74),
    "violet": (138, 60, 190),
    "orange": (243, 124, 24),
}

SUPERSAMPLE = 4  # factor by which objects are drawn larger
JPEG_QUALITY = 92
SMALLEST = 8  # pixels; smaller shapes cannot be distinguished


def _polar(angles, radii) -> np.ndarray:
    """Converts polar to Cartesian coordinates `[point, 2]`, clockwise from the top."""
    angles = np.asarray(angles, float)
    return np.stack([np.sin(angles) * radii, -np.cos(angles) * radii], axis=1)


def _regular(corners: int, radius: float) -> np.ndarray:
    return _polar(2 * math.pi * np.arange(corners) / corners, radius)


def _star(radius: float, waist: float) -> np.ndarray:
    return _polar(math.pi * np.arange(10) / 5, radius * np.tile([1, waist], 5))


def _cross(radius: float, arm: float) -> np.ndarray:
    quarter = np.array([[-arm, -1], [arm, -1], [arm, -arm]])
    turns = [quarter @ _turn(math.pi / 2 * k).T for k in range(4)]
    return np.concatenate(turns) * radius


def _heart(radius: float) -> np.ndarray:
    t = 2 * math.pi * np.arange(72) / 72
    x = 16 * np.sin(t) ** 3
    y = 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)
    return np.stack([x, -y - 2], axis=1) * radius / 17


def _turn(angle: float) -> np.ndarray:
    """Returns the `[2, 2]` matrix of a clockwise rotation on the screen."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])


# Outlines in units of the object's radius, scaled to look about equally large.
SHAPES: dict[str, np.ndarray] = {
    "circle": _regular(72, 0.86),
    "triangle": _regular(3, 1.15),
    "star": _star(1.15, 0.45),
    "square": _regular(4, 1.08),
    "cross": _cross(1.0, 0.34),
    "heart": _heart(1.0),
}

# Where the second tone shows, from coordinates in units of the object's radius.
TEXTURES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray] | None] = {
    "plain": None,
    "striped": lambda x, y: np.mod(x, 0.48) < 0.24,
    "dotted": lambda x, y: (
        np.hypot(np.mod(x, 0.5) - 0.25, np.mod(y, 0.5) - 0.25) < 0.15
    ),
    "checked": lambda x, y: (np.mod(x, 0.64) < 0.32) ^ (np.mod(y, 0.64) < 0.32),
    "ringed": lambda x, y: np.mod(np.hypot(x, y), 0.44) < 0.22,
    "rayed": lambda x, y: np.mod(np.arctan2(y, x), math.pi / 4) < math.pi / 8,
}


def reach(shape: str) -> float:
    """Returns the largest distance of a shape's outline from its centre, in radii."""
    return float(np.hypot(*SHAPES[shape].T).max())


def backdrop(size: int, rng: np.random.Generator) -> Image.Image:
    """Draws a soft, muted background without edges: RGB `[size, size]`."""
    grey = rng.uniform(70, 190)
    patches = grey + rng.uniform(-45, 45, size=(3, 3, 3))
    picture = Image.fromarray(np.clip(patches, 0, 255).astype(np.uint8))
    return picture.resize((size, size), Image.Resampling.BICUBIC)


def paint(
    picture: Image.Image,
    *,
    shape: str,
    colour: str,
    texture: str = "plain",
    centre: tuple[float, float],
    radius: float,
    rotation: float = 0.0,
    second: tuple[int, int, int] = (255, 255, 255),
    phase: tuple[float, float] = (0.0, 0.0),
) -> tuple[int, int, int, int]:
    """Paints an object and its shadow onto a picture, in place.

    Args:
      picture: RGB picture of any size.
      shape: Name in `SHAPES`.
      colour: Name in `COLOURS`.
      texture: Name in `TEXTURES`.
      centre: Coordinates x and y in pixels, with y downwards.
      radius: Radius in pixels.
      rotation: Clockwise angle in radians, by which the texture is rotated too.
      second: Second colour of the texture, as red, green, and blue in 0..255.
      phase: Shift of the texture in units of the radius.

    Returns:
      The box of the pixels that the object touches: x0, y0, x1, y1, where x1 and y1 are
      the last column and row, as in Tiny ImageNet.

    Raises:
      ValueError: If the object is completely outside the picture.
    """
    mask = _outline(picture.size, SHAPES[shape], centre, radius, rotation)
    box = mask.getbbox()
    if box is None:
        raise ValueError(
            f"The {shape} at {centre} lies completely outside the picture. Choose "
            "another centre."
        )
    _cast_shadow(picture, mask, radius)
    fill = _fill(
        box, COLOURS[colour], second, TEXTURES[texture], centre, radius, rotation, phase
    )
    picture.paste(fill, box, mask.crop(box))
    return box[0], box[1], box[2] - 1, box[3] - 1


def photograph(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Returns a picture with uneven lighting and camera noise."""
    width, height = picture.size
    angle, strength = rng.uniform(0, 2 * math.pi), rng.uniform(0.0, 0.3)
    x, y = np.linspace(-1, 1, width), np.linspace(-1, 1, height)[:, None]
    light = 1 + strength * (x * math.cos(angle) + y * math.sin(angle))
    light = light * rng.uniform(0.8, 1.15)
    noise = rng.standard_normal((height, width, 3), np.float32) * rng.uniform(2, 8)
    pixels = np.asarray(picture, np.float32) * light[..., None] + noise
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def jpeg(picture: Image.Image) -> bytes:
    """Returns a picture as the bytes of a JPEG file."""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()


def _outline(size, outline, centre, radius, rotation) -> Image.Image:
    """Returns the coverage of each pixel by the object, from 0 to 255."""
    points = outline @ _turn(rotation).T * radius + centre
    large = Image.new("L", (size[0] * SUPERSAMPLE, size[1] * SUPERSAMPLE))
    corners = [tuple(point) for point in points * SUPERSAMPLE]
    ImageDraw.Draw(large).polygon(corners, fill=255)
    return large.reduce(SUPERSAMPLE)


def _cast_shadow(picture, mask, radius) -> None:
    """Darkens the area below and to the right of an object."""
    shadow = ImageChops.offset(mask, *(max(1, round(radius * 0.12)),) * 2)
    shadow = shadow.filter(ImageFilter.GaussianBlur(radius * 0.12))
    picture.paste((0, 0, 0), mask=shadow.point(lambda value: value * 2 // 5))


def _fill(box, first, second, pattern, centre, radius, rotation, phase):
    """Draws the surface of an object over its bounding box: RGB `[height, width]`."""
    x0, y0, x1, y1 = box
    if pattern is None:
        return Image.new("RGB", (x1 - x0, y1 - y0), first)
    x = (np.arange(x0 * SUPERSAMPLE, x1 * SUPERSAMPLE) + 0.5) / SUPERSAMPLE
    y = (np.arange(y0 * SUPERSAMPLE, y1 * SUPERSAMPLE) + 0.5) / SUPERSAMPLE
    x, y = np.meshgrid((x - centre[0]) / radius, (y - centre[1]) / radius)
    cos, sin = math.cos(rotation), math.sin(rotation)
    shown = pattern(x * cos + y * sin + phase[0], y * cos - x * sin + phase[1])
    surface = np.where(shown[..., None], np.uint8(second), np.uint8(first))
    return Image.fromarray(surface).reduce(SUPERSAMPLE)
