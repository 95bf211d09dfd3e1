"""`tf.contrib`, and the tutorials' own files."""
