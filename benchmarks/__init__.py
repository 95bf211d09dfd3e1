"""This course beside other ways, each in turn, in one run on the same data.

python3 course.py bench [NAME ...] [--quick] [OPTIONS OF ONE]
"""
