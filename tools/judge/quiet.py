"""Imports TensorFlow without its start-up lines, for all that imports it later."""

from helpers.lesson import quiet_tensorflow

quiet_tensorflow()
