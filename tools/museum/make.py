"""Creates the files in data/museum with TensorFlow 1.15.5 on Python 3.7.

    python make.py FOLDER

See README.md in this folder. Each piece is a file or a folder as programs of 2019 left
it, with a `golden/NAME.npz` that contains inputs and the results of TensorFlow 1.15.
The pieces are small and trained only briefly, because all that matters is that the
original TensorFlow wrote them. The tests never run this program, since it needs another
Python and another TensorFlow.
"""

import contextlib
import hashlib
import json
import os
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.contrib import slim

tf.logging.set_verbosity(tf.logging.ERROR)

SEED = 2019
HERE = sys.argv[1] if len(sys.argv) > 1 else "museum"
# A label for each piece, as in a museum.
LABELS = {}


def at(*parts):
    path = os.path.join(HERE, *parts)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.makedirs(folder)
    return path


def golden(name, **arrays):
    np.savez_compressed(at("golden", name + ".npz"), **arrays)


def label(name, **facts):
    LABELS[name] = facts


def chance():
    return np.random.RandomState(SEED)


@contextlib.contextmanager
def built():
    """Opens a session on a new graph that is built inside the `with` block."""
    # Some ops ask for /gpu:0, as they did on the machine of 2019.
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Graph().as_default(), tf.Session(config=config) as s:
        tf.set_random_seed(SEED)
        yield s


# 1 and 2: a slim network, trained by Momentum, with moving averages, then frozen.

def slim_net(images, is_training):
    parameters = {"is_training": is_training, "decay": 0.9, "epsilon": 0.001,
                  "scale": True}
    with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm,
                        normalizer_params=parameters,
                        weights_regularizer=slim.l2_regularizer(0.0005)):
        with tf.device("/gpu:0"):
            net = slim.conv2d(images, 8, [3, 3], scope="conv1")
            net = slim.max_pool2d(net, [2, 2], scope="pool1")
            net = slim.conv2d(net, 12, [3, 3], scope="conv2")
        net = slim.max_pool2d(net, [2, 2], scope="pool2")
        net = slim.flatten(net, scope="flatten")
        net = slim.dropout(net, 0.8, is_training=is_training, scope="dropout")
        return slim.fully_connected(net, 5, activation_fn=None, scope="logits")


def stripes(number):
    """Creates noisy pictures of stripes in five widths, with their labels."""
    random = chance()
    labels = random.randint(0, 5, number)
    across = np.arange(16)[None, None, :, None]
    images = np.sin(across * (labels[:, None, None, None] + 1) * 0.4)
    images = images + 1.5 * random.standard_normal((number, 16, 16, 3))
    return images.astype(np.float32), labels.astype(np.int32)


def make_slim():
    images, labels = stripes(64)
    with built() as s:
        fed = tf.placeholder(tf.float32, [None, 16, 16, 3], name="images")
        wanted = tf.placeholder(tf.int32, [None], name="labels")
        is_training = tf.placeholder_with_default(False, [], name="is_training")
        logits = slim_net(fed, is_training)
        tf.nn.softmax(logits, name="probabilities")
        loss = tf.losses.sparse_softmax_cross_entropy(wanted, logits)
        total = tf.losses.get_total_loss()
        step = tf.train.get_or_create_global_step()
        averages = tf.train.ExponentialMovingAverage(0.8, step)
        optimizer = tf.train.MomentumOptimizer(0.02, 0.9)
        train = slim.learning.create_train_op(total, optimizer, global_step=step)
        with tf.control_dependencies([train]):
            train = averages.apply(tf.trainable_variables())
        tf.summary.scalar("loss", loss)
        saver = tf.train.Saver(max_to_keep=1)
        s.run(tf.global_variables_initializer())
        for _ in range(30):
            s.run(train, {fed: images, wanted: labels, is_training: True})
        saver.save(s, at("slim", "model.ckpt"), global_step=step)
        raw = {v.op.name: s.run(v) for v in tf.trainable_variables()}
        shadow = {v.op.name: s.run(averages.average(v))
                  for v in tf.trainable_variables()}
        restore = averages.variables_to_restore()
    with built() as s:
        fed = tf.placeholder(tf.float32, [None, 16, 16, 3], name="images")
        logits = slim_net(fed, is_training=False)
        tf.nn.softmax(logits, name="probabilities")
        names = {v.op.name: v for v in tf.global_variables()}
        averaged = {key: names[v.op.name] for key, v in restore.items()
                    if v.op.name in names}
        path = tf.train.latest_checkpoint(at("slim", ""))
        answers = {}
        for kind, saver in (("raw", tf.train.Saver(names)),
                            ("averaged", tf.train.Saver(averaged))):
            saver.restore(s, path)
            answers[kind] = s.run("probabilities:0", {fed: images[:7]})
        frozen = tf.graph_util.convert_variables_to_constants(
            s, s.graph.as_graph_def(), ["probabilities"])
        tf.io.write_graph(frozen, HERE, "slim_frozen.pb", as_text=False)
    kernel = "conv1/weights"
    golden("slim", images=images[:7], labels=labels[:7], raw=answers["raw"],
           averaged=answers["averaged"], raw_kernel=raw[kernel],
           averaged_kernel=shadow[kernel])
    golden("slim_frozen", images=images[:7], probabilities=answers["averaged"])
    label("slim", title="A slim network with its whole training graph",
          kind="checkpoint and .meta",
          story="conv, batch norm and dropout by tf.contrib.slim, trained by Momentum, "
                "with an ExponentialMovingAverage; the convolutions ask for /gpu:0")
    label("slim_frozen.pb", title="The same network, frozen",
          kind="GraphDef with weights as constants",
          story="inference only, with the averaged weights and the moving statistics")


# 3: the checkpoint format of before 2016, in one file.

def make_old_checkpoint():
    random = chance()
    with built() as s:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        w = tf.get_variable("layer/weights", [4, 3], initializer=tf.constant_initializer(
            random.standard_normal((4, 3)).astype(np.float32)))
        b = tf.get_variable("layer/biases", [3], initializer=tf.constant_initializer(
            random.standard_normal(3).astype(np.float32)))
        y = tf.tanh(tf.matmul(x, w) + b, name="y")
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V1)
        rows = random.standard_normal((6, 4)).astype(np.float32)
        s.run(tf.global_variables_initializer())
        saver.save(s, at("old_format", "model.ckpt"))
        golden("old_format", x=rows, y=s.run(y, {x: rows}), weights=s.run(w),
               biases=s.run(b))
    label("old_format", title="A checkpoint of the first format",
          kind="V1 checkpoint and .meta",
          story="one file with weights and index together, as before TensorFlow 0.12")


# 4: a variable in three parts, as on parameter servers.

def make_partitioned():
    random = chance()
    with built() as s:
        ids = tf.placeholder(tf.int32, [None], name="ids")
        table = tf.get_variable(
            "table", [10, 4], partitioner=tf.fixed_size_partitioner(3),
            initializer=tf.random_normal_initializer(seed=SEED))
        rows = tf.nn.embedding_lookup(table, ids, partition_strategy="div", name="rows")
        tf.identity(tf.reduce_sum(rows, axis=1), name="sums")
        saver = tf.train.Saver()
        asked = random.randint(0, 10, 8).astype(np.int32)
        s.run(tf.global_variables_initializer())
        saver.save(s, at("partitioned", "model.ckpt"))
        golden("partitioned", ids=asked, sums=s.run("sums:0", {ids: asked}),
               table=s.run(tf.convert_to_tensor(table)))
    label("partitioned", title="One variable in three parts",
          kind="checkpoint and .meta",
          story="a table of 10 rows cut for three parameter servers; the checkpoint "
                "holds one tensor with slices")


# 5: recurrent cells.

def make_recurrent():
    random = chance()
    with built() as s:
        x = tf.placeholder(tf.float32, [None, 6, 5], name="x")
        lengths = tf.placeholder(tf.int32, [None], name="lengths")
        cells = [tf.nn.rnn_cell.LSTMCell(7, use_peepholes=True, forget_bias=1.0),
                 tf.nn.rnn_cell.GRUCell(4)]
        outputs, _ = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.MultiRNNCell(cells), x, sequence_length=lengths,
            dtype=tf.float32)
        tf.identity(outputs, name="outputs")
        saver = tf.train.Saver()
        steps = random.standard_normal((3, 6, 5)).astype(np.float32)
        long = np.array([6, 2, 4], np.int32)
        s.run(tf.global_variables_initializer())
        for variable in tf.global_variables():  # zeros would hide a wrong order
            value = 0.4 * random.standard_normal(variable.shape.as_list())
            variable.load(value.astype(np.float32), s)
        saver.save(s, at("recurrent", "model.ckpt"))
        values = {v.op.name.replace("/", "|"): s.run(v)
                  for v in tf.global_variables()}
        golden("recurrent", x=steps, lengths=long,
               outputs=s.run("outputs:0", {x: steps, lengths: long}), **values)
    label("recurrent", title="Two recurrent layers",
          kind="checkpoint and .meta",
          story="MultiRNNCell of an LSTM with peepholes and a GRU, through dynamic_rnn")


# 6: a SavedModel with a signature of its own, a keyword for an input, and a table.

def make_saved_model():
    words = ["the", "queue", "starves", "tower", "average"]
    asset = at("words.txt")
    with open(asset, "w") as file:
        file.write("\n".join(words) + "\n")
    folder = at("saved_model")
    shutil.rmtree(folder, ignore_errors=True)
    with built() as s:
        tokens = tf.placeholder(tf.string, [None, 3], name="tokens")
        weights = tf.placeholder_with_default(tf.ones([3]), [3], name="weights")
        name = tf.constant(asset, name="asset_path")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, name)
        table = tf.contrib.lookup.index_table_from_file(name, num_oov_buckets=1)
        ids = table.lookup(tokens)
        vectors = tf.get_variable("vectors", [6, 2],
                                  initializer=tf.random_normal_initializer(seed=SEED))
        found = tf.nn.embedding_lookup(vectors, ids)
        score = tf.reduce_sum(found * weights[None, :, None], axis=[1, 2], name="score")
        signature = tf.saved_model.signature_def_utils.build_signature_def(
            inputs={"in": tf.saved_model.utils.build_tensor_info(tokens),
                    "weights": tf.saved_model.utils.build_tensor_info(weights)},
            outputs={"score": tf.saved_model.utils.build_tensor_info(score),
                     "ids": tf.saved_model.utils.build_tensor_info(ids)},
            method_name="course/score")
        rows = np.array([["the", "queue", "starves"], ["tower", "of", "average"]])
        s.run([tf.global_variables_initializer(), tf.tables_initializer()])
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(
            s, ["serve"], {"score_words": signature},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer())
        builder.save()
        factors = np.array([1.0, 0.5, -2.0], np.float32)
        feeds = {tokens: rows, weights: factors}
        golden("saved_model", tokens=rows.astype("S10"), weights=factors,
               score=s.run(score, feeds), ids=s.run(ids, feeds))
    os.remove(asset)
    label("saved_model", title="A SavedModel with a signature of its own",
          kind="SavedModel",
          story="the signature is called score_words, one of its inputs is called in, "
                "and the words come from an asset file")


# 7: what an Estimator leaves behind.

def make_estimator():
    random = chance()
    folder = at("estimator")
    shutil.rmtree(folder, ignore_errors=True)
    x = random.standard_normal((40, 3)).astype(np.float32)
    y = (x @ np.array([1.0, -2.0, 0.5], np.float32) + 0.25).astype(np.float32)

    def model(features, labels, mode):
        predicted = tf.squeeze(tf.layers.dense(features["x"], 1, name="dense"), 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            outputs = {"predict": tf.estimator.export.PredictOutput({"y": predicted})}
            return tf.estimator.EstimatorSpec(mode, {"y": predicted},
                                              export_outputs=outputs)
        loss = tf.losses.mean_squared_error(labels, predicted)
        train = tf.train.AdamOptimizer(0.1).minimize(
            loss, tf.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def data():
        return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(4).batch(8)

    def receiver():
        fed = tf.placeholder(tf.float32, [None, 3], name="x")
        return tf.estimator.export.ServingInputReceiver({"x": fed}, {"x": fed})

    config = tf.estimator.RunConfig(tf_random_seed=SEED, keep_checkpoint_max=1)
    estimator = tf.estimator.Estimator(model, folder, config)
    estimator.train(data)
    exported = estimator.export_saved_model(os.path.join(folder, "export"), receiver)
    os.rename(exported.decode(), os.path.join(folder, "export", "1546300800"))
    for name in os.listdir(folder):
        if name.startswith("events"):
            os.rename(os.path.join(folder, name),
                      os.path.join(folder, "events.out.tfevents.1546300800.museum"))
    rows = x[:5]
    ask = tf.estimator.inputs.numpy_input_fn({"x": rows}, shuffle=False)
    found = np.array([row["y"] for row in estimator.predict(ask)])
    kernel = estimator.get_variable_value("dense/kernel")
    golden("estimator", x=rows, y=found, kernel=kernel)
    label("estimator", title="An Estimator's folder, with its export",
          kind="checkpoint, .meta, graph.pbtxt, event file, SavedModel",
          story="a linear model trained by Adam for 20 steps, exported for serving")


# 8: a tf.keras model.

def make_keras():
    random = chance()
    tf.keras.backend.clear_session()
    tf.set_random_seed(SEED)
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Conv2D(4, 3, input_shape=(8, 8, 1), activation="relu"),
        layers.BatchNormalization(), layers.MaxPooling2D(), layers.Flatten(),
        layers.Dropout(0.5), layers.Dense(3, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy")
    images = random.standard_normal((12, 8, 8, 1)).astype(np.float32)
    model.fit(images, random.randint(0, 3, 12), epochs=3, verbose=0)
    model.save(at("keras_model.h5"))
    golden("keras_model", images=images, probabilities=model.predict(images))
    label("keras_model.h5", title="A tf.keras model of 2019", kind="HDF5 with a model",
          story="convolution, batch norm, dropout, dense; saved by model.save")


# 9 and 10: a graph that queues feed, and record files.

def make_queue_fed():
    random = chance()
    rows = random.standard_normal((30, 4)).astype(np.float32)
    kinds = {"gzip": tf.io.TFRecordCompressionType.GZIP,
             "zlib": tf.io.TFRecordCompressionType.ZLIB}
    for name, kind in kinds.items():
        options = tf.io.TFRecordOptions(compression_type=kind)
        path = at("records", "rows.tfrecord." + name)
        with tf.io.TFRecordWriter(path, options) as writer:
            for number, row in enumerate(rows):
                feature = {
                    "row": tf.train.Feature(
                        float_list=tf.train.FloatList(value=row.tolist())),
                    "number": tf.train.Feature(
                        int64_list=tf.train.Int64List(value=[number]))}
                writer.write(tf.train.Example(features=tf.train.Features(
                    feature=feature)).SerializeToString())
    golden("records", rows=rows)
    label("records", title="Record files, GZIP and ZLIB", kind="TFRecord",
          story="30 Examples with a row of four floats and a number")
    with built() as s:
        files = tf.train.string_input_producer(["rows.tfrecord"], num_epochs=2)
        _, record = tf.TFRecordReader().read(files)
        fields = tf.parse_single_example(
            record, {"row": tf.FixedLenFeature([4], tf.float32)})
        batch = tf.train.shuffle_batch([fields["row"]], 5, capacity=50,
                                       min_after_dequeue=10, name="batch")
        hidden = tf.layers.dense(batch, 6, tf.nn.relu, name="hidden")
        tf.nn.softmax(tf.layers.dense(hidden, 3, name="out"), name="probabilities")
        saver = tf.train.Saver()
        s.run(tf.global_variables_initializer())
        saver.save(s, at("queue_fed", "model.ckpt"))
        golden("queue_fed", batch=rows[:5],
               probabilities=s.run("probabilities:0", {batch: rows[:5]}))
    label("queue_fed", title="A graph that queues feed, without its data",
          kind="checkpoint and .meta",
          story="string_input_producer, TFRecordReader, shuffle_batch, two layers; the "
                "record file it names is gone")


# 11: an event file.

def make_events():
    with built() as s:
        x = tf.placeholder(tf.float32, [], name="x")
        summary = tf.summary.scalar("loss", x)
        writer = tf.summary.FileWriter(at("events", ""), s.graph)
        losses = [2.0 / (step + 1) for step in range(10)]
        for step, loss in enumerate(losses):
            writer.add_summary(s.run(summary, {x: loss}), step)
        writer.close()
    [name] = os.listdir(at("events", ""))
    os.rename(at("events", name), at("events", "events.out.tfevents.1546300800.museum"))
    golden("events", losses=np.array(losses, np.float32))
    label("events", title="An event file", kind="event file",
          story="a graph and ten values of a loss, for TensorBoard")


# 12: a stopped training and the results of its next steps; not used in lesson 11.

def make_training():
    random, size = chance(), 8
    words = random.randint(0, 20, (52, size, 6)).astype(np.int32)
    lengths = random.randint(1, 7, (52, size)).astype(np.int32)
    labels = (words[:, :, 0] % 3).astype(np.int32)
    with built() as s:
        fed = {name: tf.placeholder(tf.int32, [size] + shape, name=name)
               for name, shape in (("words", [6]), ("lengths", []), ("labels", []))}
        table = tf.get_variable("table", [20, 4])
        _, state = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.BasicLSTMCell(5), tf.nn.embedding_lookup(table, fed["words"]),
            fed["lengths"], dtype=tf.float32)
        hidden = tf.contrib.layers.batch_norm(
            state.h, decay=0.9, epsilon=0.01, scale=True, is_training=True,
            scope="norm")
        logits = tf.layers.dense(hidden, 3, name="scores")
        loss = tf.losses.sparse_softmax_cross_entropy(fed["labels"], logits)
        loss = tf.identity(loss, name="loss")
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(0.05, step, 20, 0.5, staircase=True)
        optimizer = tf.train.RMSPropOptimizer(rate, momentum=0.5)
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            optimizer.apply_gradients(zip(gradients, variables), step, name="train")
        saver = tf.train.Saver(max_to_keep=1)
        losses = []
        s.run(tf.global_variables_initializer())
        for now in range(52):
            if now == 40:
                saver.save(s, at("training", "model.ckpt"), global_step=step)
            losses.append(s.run([loss, "train"], {
                fed["words"]: words[now], fed["lengths"]: lengths[now],
                fed["labels"]: labels[now]})[0])
        variance = s.run("norm/moving_variance:0")
    golden("training", words=words[40:], lengths=lengths[40:], labels=labels[40:],
           losses=np.array(losses[40:], np.float32), moving_variance=variance)


def manifest():
    files = {}
    for folder, _, names in os.walk(HERE):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            files[os.path.relpath(path, HERE).replace(os.sep, "/")] = {
                "bytes": os.path.getsize(path), "sha256": digest}
    return {
        "made_by": "tools/museum/make.py",
        "tensorflow": tf.__version__, "numpy": np.__version__,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "pieces": LABELS, "files": files,
    }


def main():
    if os.path.exists(HERE):
        sys.exit(HERE + " already exists: choose another folder")
    for make in (make_slim, make_old_checkpoint, make_partitioned, make_recurrent,
                 make_saved_model, make_estimator, make_keras, make_queue_fed,
                 make_events, make_training):
        print(make.__name__)
        make()
    text = json.dumps(manifest(), indent=1, sort_keys=True)
    with open(at("manifest.json"), "w") as file:
        file.write(text + "\n")


main()
