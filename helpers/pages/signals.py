"""Interactive figure of lesson 06a: signal strength by layer and initializer."""

import numpy as np

from helpers import svg
from helpers.chart import Chart
from helpers.explore import Frame

_LAYERS = 16
_CHART = Chart(x=(1, _LAYERS), y=(1e-12, 1e8), log=True)
SIZE = _CHART.size
DIES, FADES, EXPLODES = 1e-4, 0.05, 100


def signal_frame(signals: dict[str, np.ndarray], rule: str, setting: str) -> Frame:
    """Draws the signal strength per layer for several initializers.

    A click on a line or its name chooses this initializer.

    Args:
      signals: Signal of each layer as a share of the first layer's, by initializer.
      rule: Initializer whose line is drawn thick and whose fate the caption describes.
      setting: Description of the other settings, such as `"base width 64, relu"`.

    Taught in lesson 06a, 'Does the signal arrive?'.
    """
    left = float(signals[rule][-1])
    fate = ("dies" if left < DIES else "fades" if left < FADES
            else "explodes" if left > EXPLODES else "lives")
    numbers = range(1, len(signals[rule]) + 1)
    axes = _CHART.axes((1, 4, 8, 12, 16), (1e-12, 1e-8, 1e-4, 1, 1e4, 1e8),
                       "convolution; upwards: the signal (first layer = 1)")
    others = "".join(
        svg.choice(_CHART.line(numbers, signal, "soft", 1,
                               name="" if other == rule else other), "rule", other)
        for other, signal in signals.items())
    chosen = _CHART.line(numbers, signals[rule],
                         "bad" if fate in ("dies", "explodes") else "a", 4, name=rule)
    says = f"{rule}, {setting}: the signal is multiplied by {left:.0e}. It {fate}."
    return Frame([axes, others, chosen], says)
