"""What `tensorflow.compat.v1` has under the old name stays as it is.

The installed TensorFlow is asked for each name, so no table says what is there; the
tables of other rules have only what has another name today.

Since: TensorFlow 2.0
Sitting: 10a
Side: TensorFlow 1.15

Stays:

    x = tf.placeholder(tf.float32, [None, 3])
    tf.contrib.no_such_thing(x)  # left: nothing has it today
    tf.pack(x, dims=3)  # left: it takes no dims=
"""

from tools.port.rule import ARGUMENTS, call
from tools.port.today import refusal, today


@call("tf.*")
def misfit(use):
    """Asks the function of today whether it takes the call."""
    new = today(use.name)
    if use.is_call and new:
        renamed = ARGUMENTS.get(use.name, {})
        words = tuple(renamed[k][0] if k in renamed else k for k in use.call.keywords)
        if refused := refusal(new, use.call._replace(keywords=words)):
            yield use.left(refused)
