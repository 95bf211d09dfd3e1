import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checkpoints import restore_latest
from helpers.narrow_vgg import grab_narrow_vgg
from helpers.shapes import write_tiny_shapes
from helpers.vgg import vgg_net


def test_a_net_is_trained_once_and_restored(tmp_path, monkeypatch):
    monkeypatch.setenv("HELPERS_DATA", str(tmp_path / "data"))
    mine = write_tiny_shapes(tmp_path, num_classes=3, train=9, val=2, size=32)
    folder = grab_narrow_vgg(mine, epochs=2)
    [file] = folder.glob("model.ckpt-2.index")  # 27 pictures, one batch an epoch
    made = file.stat().st_mtime_ns
    assert grab_narrow_vgg(mine, epochs=2) == folder
    assert file.stat().st_mtime_ns == made
    with tf.Graph().as_default(), tf1.Session() as session:
        images = tf1.placeholder(tf.float32, [None, 32, 32, 3])
        vgg_net(images, configuration="A", num_classes=3, base_width=8)
        assert restore_latest(tf1.train.Saver(), session, folder) == 2
    assert grab_narrow_vgg(mine, epochs=1) != folder
