"""One check per exercise: `check_<exercise>(attempt)` returns a `Report`.

A report prints ticks, crosses and hints, and is truthy only when all of it holds.
Checks need no network. Each lesson's checks live in a module of their own, which is
imported when one of them is first asked for: no lesson loads what another one needs.
"""

import importlib

_LESSON_OF = {
    "check_siamese": "01",
    "check_minimize_anywhere": "01",
    "check_spread": "02",
    "check_both_busy": "02",
    "check_deliver": "03",
    "check_repeat_until_stop": "03",
    "check_twin": "03",
    "check_split_records": "04",
    "check_digits_to_records": "04",
    "check_digit_batches": "04",
    "check_column_loss": "05",
    "check_process_gradient_list": "05",
    "check_tower_spread": "05",
    "check_vgg_net": "06",
    "check_receptive_field": "06",
    "check_train_op": "07",
    "check_with_updates": "07",
    "check_rate_after": "07",
    "check_masked_mean": "08",
    "check_beam_step": "08",
    "check_attend": "08",
    "check_tf_configs": "09",
    "check_repeated_steps": "09",
    "check_running_mean": "10",
    "check_keras_lstm_weights": "10",
}
__all__ = list(_LESSON_OF)


def __getattr__(name: str):
    if name not in _LESSON_OF:
        raise AttributeError(f"helpers.checks has no {name}")
    lesson = importlib.import_module(f"helpers.checks.lesson_{_LESSON_OF[name]}")
    return getattr(lesson, name)
