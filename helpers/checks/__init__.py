"""One check per exercise: `check_<exercise>(attempt)` returns a `Report`.

A report prints ticks, crosses and hints, and is truthy only when all of it holds.
Checks need no network; each lesson's checks live in a module of their own.
"""
