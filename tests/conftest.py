"""What every test shares: TensorFlow is imported quietly, once."""

from helpers import lesson

lesson.begin("tests")
