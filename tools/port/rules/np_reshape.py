"""`newshape=` of `np.reshape` is `shape=`.

Since: NumPy 2.1
Sitting: 10a
Side: any Python 3 with NumPy 1

Before:

    import numpy as np
    print(np.reshape(np.arange(6), newshape=(2, 3)))

After:

    import numpy as np
    print(np.reshape(np.arange(6), shape=(2, 3)))
"""

from tools.port.rule import rows

rows({"numpy.reshape(newshape=)": "shape"})
