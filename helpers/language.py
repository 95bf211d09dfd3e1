"""The visual language of the course: the meaning of colours, outlines, and hatches.

A colour has the same meaning in every lesson: blue is device, tower, or worker 0. Red
is reserved for values that are lost, dead, NaN, or silently wrong. A second sign (a
number, a hatch, or a word) carries the same information for readers who cannot see the
colour.
"""

INK, SOFT, RULE, PALE, PAPER = "#1a1a1a", "#5f6368", "#c4c7cc", "#eef0f2", "#ffffff"
# Device, tower or worker 0, 1, 2, 3: as line or text, and as fill under black text.
# Starting point: Okabe and Ito, "Color universal design", 2008.
TOWER = ("#0072b2", "#a86800", "#00805d", "#a8487f")
TINT = ("#a9cdf0", "#ffc27a", "#d3f5b0", "#cc99c2")
LOST, LOST_TINT = "#c1121f", "#f6c9cc"
# The same colours in dark mode.
DARK = {INK: "#ececec", SOFT: "#a3adb8", PAPER: "#16191d", LOST: "#ff7b7b",
        TOWER[0]: "#56b4e9", TOWER[1]: "#f0a63c", TOWER[2]: "#3cd3a5",
        TOWER[3]: "#e79ac6"}
QUANTITY = "Blues"  # colour map for values from 0 up
SIGNED = (TOWER[0], PAPER, TOWER[1])  # colours of a map centred at 0
WIDE, WIDTH, DPI = 9.4, 6.4, 180  # inches: wide and normal figures

FILLS: dict[object, dict] = {
    "plain": {"facecolor": PAPER, "edgecolor": INK},
    "reference": {"facecolor": PALE, "edgecolor": SOFT},
    "waits": {"facecolor": PAPER, "edgecolor": SOFT, "hatch": "..."},
    "lost": {"facecolor": LOST_TINT, "edgecolor": LOST, "hatch": "///"},
    "starves": {"facecolor": PAPER, "edgecolor": LOST, "hatch": "///"},
    "control": {"facecolor": INK, "edgecolor": INK},
} | {k: {"facecolor": TINT[k], "edgecolor": TOWER[k]} for k in range(4)}

STYLE = {
    "figure.figsize": (WIDTH, 3.2), "figure.dpi": 90, "savefig.dpi": DPI,
    "font.size": 10, "axes.labelsize": 9, "xtick.labelsize": 9, "ytick.labelsize": 9,
    "legend.fontsize": 9, "legend.frameon": False,
    "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": SOFT,
    "axes.labelcolor": INK, "text.color": INK, "xtick.color": SOFT,
    "ytick.color": SOFT, "hatch.linewidth": 0.7, "image.cmap": "gray",
}


def fill(kind: object) -> dict:
    """Returns the fill colour, edge colour, and hatch for a kind of box or bar.

    Args:
      kind: Number of a device, tower, or worker (the colours repeat from 4 on), or one
        of these words: `"plain"`; `"reference"` for chance level, an ideal, or an
        earlier result; `"waits"` for waiting, starting, or a full queue; `"starves"`
        for an empty queue; `"lost"` for lost, dead, NaN, or silently wrong; `"control"`
        for a condition or an order.

    Returns:
      Keyword arguments for `ax.bar`, `ax.barh`, `Rectangle`, and other patches.

    Raises:
      ValueError: If there is no such kind.
    """
    kind = kind % len(TOWER) if isinstance(kind, int) else kind
    if kind not in FILLS:
        kinds = ", ".join(map(repr, FILLS))
        raise ValueError(f"Unknown fill {kind!r}. Choose one of {kinds}.")
    return dict(FILLS[kind])
