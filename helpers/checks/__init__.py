"""Automatic checks of the exercises: `check_<exercise>(attempt)` returns a `Report`.

A report prints ticks, crosses and, when asked, hints; it is truthy only when all of it
holds. Checks need no network. Those of lesson NN live in `helpers.checks.lesson_NN`, so
no lesson loads what another one needs.
"""
