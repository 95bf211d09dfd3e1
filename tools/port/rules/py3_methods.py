"""Methods that Python's library has under another name today.

A test that asks for `assertEquals`, and a thread that is asked whether it `isAlive`,
ran on each Python that TensorFlow 1 knew. A method that the project defines stays.

Since: Python 3.9, 3.12
Sitting: 10a
Side: Python 3.7

Before:

    for thread in threads:
        print(thread.isAlive())
    self.assertItemsEqual([2, 1], found)
    for one in root.getiterator("object"):
        print(one)

After:

    for thread in threads:
        print(thread.is_alive())
    self.assertCountEqual([2, 1], found)
    for one in root.iter("object"):
        print(one)

Stays:

    class Robot:
        def isAlive(self):
            return True
    print(Robot().isAlive())
"""

from tools.port.rule import rows

rows({
    ".isAlive()": ".is_alive",
    ".getiterator()": ".iter", ".getiterator(...)": ".iter",
    ".readfp(...)": ".read_file",
    ".assert_(...)": ".assertTrue",
    ".assertEquals(...)": ".assertEqual",
    ".assertNotEquals(...)": ".assertNotEqual",
    ".assertAlmostEquals(...)": ".assertAlmostEqual",
    ".assertNotAlmostEquals(...)": ".assertNotAlmostEqual",
    ".assertItemsEqual(...)": ".assertCountEqual",
    ".assertRegexpMatches(...)": ".assertRegex",
    ".assertNotRegexpMatches(...)": ".assertNotRegex",
    ".assertRaisesRegexp(...)": ".assertRaisesRegex",
})
