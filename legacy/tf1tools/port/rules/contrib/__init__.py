"""Rules for `tf.contrib` and for the modules of the tutorials."""
