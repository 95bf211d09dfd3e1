"""Names of TensorFlow: moved, renamed, there under the old name, or gone."""
