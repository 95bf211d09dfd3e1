"""Automatic checks of the exercises: `check_<exercise>(attempt)` returns a `Report`.

A report prints ticks, crosses, and, on request, hints. It is true only if every claim
holds. Checks need no network. The checks of lesson NN are in
`helpers.checks.lesson_NN`, so that no lesson imports what another one needs.
"""
