"""One model on several devices, one slice of the batch each, one averaged update.

    devices = cpu_devices(4)
    optimizer = tf1.train.MomentumOptimizer(0.01, 0.9)

    def tower(images, labels):
        loss = loss_of(vgg_net(images), labels)
        return loss, optimizer.compute_gradients(loss)

    slices = split_batch((images, labels), len(devices))
    losses, gradients = zip(*build_towers(tower, devices, slices))
    train = optimizer.apply_gradients(process_gradient_list(gradients, losses=losses))

Devices are strings, so four logical CPUs, four GPUs or four tasks of a cluster run
the same code.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf
import tensorflow.compat.v1 as tf1

Gradient = tf.Tensor | tf.IndexedSlices | None
GradientsAndVariables = list[tuple[Gradient, tf.Variable]]

# The ops that hold a variable: resource variables first, then those of old graphs.
_VARIABLE_OPS = ("VarHandleOp", "VariableV2", "Variable")


def cpu_devices(n: int) -> list[str]:
    """Names the logical CPUs of this machine, to build towers on.

    A session has so many only if you ask:
    `tf1.Session(config=tf1.ConfigProto(device_count={"CPU": n}))`.

    Args:
      n: how many, at least 1. They share the machine's cores.

    Returns:
      `["/cpu:0", ..., "/cpu:<n - 1>"]`.

    Raises:
      ValueError: `n` is below 1.
    """
    if n < 1:
        raise ValueError(f"cpu_devices: at least one device, got {n}")
    return [f"/cpu:{index}" for index in range(n)]


def variables_on(device: str) -> Callable[[tf.Operation], str]:
    """Returns a device function that keeps variables together.

        with tf.device("/cpu:2"), tf1.device(variables_on("/cpu:0")):
            kernel = tf1.get_variable("kernel", [3, 5])    # on /cpu:0
            outgoing = tf.matmul(incoming, kernel)         # on /cpu:2

    Args:
      device: where the ops that hold a variable go (`VarHandleOp`, and `VariableV2`
        of old graphs). TensorFlow puts what reads or assigns it on the same device.

    Returns:
      A function for `tf1.device`. Other ops stay where the devices around say.
    """

    def place(op: tf.Operation) -> str:
        return device if op.type in _VARIABLE_OPS else op.device

    return place


def split_batch(tensors, num_towers: int) -> list:
    """Cuts a batch into one equal slice per tower.

    Args:
      tensors: a tensor `[batch, ...]`, or a tuple, list or dictionary of them.
      num_towers: how many slices; it must divide the batch.

    Returns:
      A list of `num_towers` slices, each built like `tensors`, with tensors
      `[batch / num_towers, ...]`.

    Raises:
      ValueError: fewer than one tower, a tensor without a batch axis, or a known
        batch that does not divide. An unknown one is checked when it runs.
    """
    if num_towers < 1:
        raise ValueError(f"split_batch: at least one tower, got {num_towers}")
    flat = [tf.convert_to_tensor(tensor) for tensor in tf.nest.flatten(tensors)]
    for tensor in flat:
        if tensor.shape.rank == 0:
            raise ValueError(f"split_batch: {tensor.name} has no batch axis to split")
        batch = tensor.shape[0] if tensor.shape.rank else None
        if batch is not None and batch % num_towers:
            raise ValueError(
                f"split_batch: {tensor.name} has a batch of {batch}, which "
                f"{num_towers} towers cannot share equally; slice it by tf.split and "
                "give process_gradient_list the sizes as weights"
            )
    parts = [tf.split(tensor, num_towers, name="slices") for tensor in flat]
    return [
        tf.nest.pack_sequence_as(tensors, of_one) for of_one in zip(*parts, strict=True)
    ]


def build_towers(
    tower_fn: Callable,
    devices: Sequence[str],
    slices: Sequence,
    *,
    variables_device: str = "/cpu:0",
) -> list:
    """Builds the same model once per device; all towers share one set of variables.

    The first tower creates the variables, the later ones find them: those scopes are
    set to reuse, never the scope around, so an optimizer can still create its slots.
    Variables keep the names that a single model gives them. They must come from
    `get_variable`; a `tf.Variable` is never shared.

    Args:
      tower_fn: called as `tower_fn(*slice)` if a slice is a tuple or a list, else as
        `tower_fn(slice)`. It builds the model, its loss and, so that they run on the
        same device, its gradients, and returns whatever you want of a tower.
      devices: one per tower.
      slices: one per tower: from `split_batch`, or one dequeue each.
      variables_device: where all variables live.

    Returns:
      What `tower_fn` returned, one entry per tower.

    Raises:
      ValueError: no devices, not one slice per device, or (from TensorFlow) a later
        tower asks for a variable that the first has not created.
    """
    if not devices:
        raise ValueError("build_towers: there are no devices, so there is no tower")
    if len(slices) != len(devices):
        raise ValueError(
            f"build_towers: {len(slices)} slices for {len(devices)} devices; every "
            "tower needs one of its own"
        )
    results = []
    for index, (device, of_one) in enumerate(zip(devices, slices, strict=True)):
        arguments = of_one if isinstance(of_one, (tuple, list)) else (of_one,)
        with (
            tf1.name_scope(f"tower_{index}"),
            tf1.variable_scope(tf1.get_variable_scope(), reuse=index > 0 or None),
            tf.device(device),
            tf1.device(variables_on(variables_device)),
        ):
            results.append(tower_fn(*arguments))
    return results


def process_gradient_list(
    gradient_list: Sequence[GradientsAndVariables],
    weights: Sequence[float | tf.Tensor] | None = None,
    *,
    losses: Sequence[tf.Tensor] | None = None,
) -> GradientsAndVariables:
    """Averages the gradients of all towers into one list for `apply_gradients`.

    Either every variable is updated or none: no average is released before all of
    them, and the losses, are known to be finite. Sparse gradients (`IndexedSlices`)
    stay sparse unless another tower's is dense.

    Args:
      gradient_list: per tower what `compute_gradients` returned, the same variables
        in the same order. A `None` that all towers agree on stays `None`.
      weights: per tower how much it counts, a number or a scalar tensor: the size of
        its slice, where slices differ. All the same if `None`.
      losses: per tower its scalar loss, to be checked with the gradients: a loss can
        be NaN with finite gradients.

    Returns:
      `[(gradient, variable), ...]` in tower 0's order, each gradient on its
      variable's device.

    Raises:
      ValueError: no towers, no variables, no gradient at all, towers that list other
        variables or another order, `None` in some towers only, weights or losses
        that are not one per tower, or bad weights.
      tf.errors.InvalidArgumentError: when it runs: NaN or Inf; the error names the
        variable and the tower, and no variable has changed.
    """
    towers = [list(tower) for tower in gradient_list]
    _check_variables(towers)
    _check_missing(towers)
    shares = _shares(weights, len(towers))
    with tf1.name_scope("average"):
        averages = []
        for pairs in zip(*towers, strict=True):
            variable = pairs[0][1]
            gradients = [_checked(g, variable, k) for k, (g, _) in enumerate(pairs)]
            with tf.device(variable.device):
                averages.append(_average(gradients, shares))
        checked = [_values(average).op for average in averages if average is not None]
        with tf.control_dependencies(checked):  # so that a bad gradient is named first
            checked += _checked_losses(losses, len(towers))
        with tf.control_dependencies(checked):
            return [
                (_identity(average, variable), variable)
                for average, (_, variable) in zip(averages, towers[0], strict=True)
            ]


def _name(variable: tf.Variable) -> str:
    return variable.name.split(":")[0]


def _check_variables(towers: list[GradientsAndVariables]) -> None:
    """Raises ValueError unless all towers list the same variables, in one order."""
    if not towers:
        raise ValueError("process_gradient_list: an empty list, there are no towers")
    known = {id(v): (v, k) for k, tower in enumerate(towers) for _, v in tower}
    if not known:
        raise ValueError("process_gradient_list: no tower lists a variable")
    for k, tower in enumerate(towers):
        missing = known.keys() - {id(v) for _, v in tower}
        for key, (variable, other) in known.items():
            if key in missing:
                raise ValueError(
                    f"tower {k} lists no gradient for variable '{_name(variable)}', "
                    f"tower {other} does: were the towers built to share variables?"
                )
    for k, tower in enumerate(towers):
        for (_, ours), (_, theirs) in zip(towers[0], tower, strict=False):
            if ours is not theirs:
                raise ValueError(
                    f"tower {k} lists variable '{_name(theirs)}' where tower 0 lists "
                    f"'{_name(ours)}': the order must be the same in all towers"
                )
        if len(tower) != len(towers[0]):
            raise ValueError(
                f"tower {k} lists a variable twice: {len(tower)} entries against "
                f"{len(towers[0])} in tower 0"
            )


def _check_missing(towers: list[GradientsAndVariables]) -> None:
    """Raises ValueError if `None` stands in some towers only, or everywhere."""
    for pairs in zip(*towers, strict=True):
        without = [k for k, (gradient, _) in enumerate(pairs) if gradient is None]
        if 0 < len(without) < len(pairs):
            raise ValueError(
                f"variable '{_name(pairs[0][1])}' has no gradient (None) in tower "
                f"{', '.join(map(str, without))}, but has one in the others: is that "
                "tower's loss connected to it?"
            )
    if all(gradient is None for gradient, _ in towers[0]):
        raise ValueError(
            "no gradient reaches any variable in any tower: is the loss connected to "
            "the model?"
        )


def _shares(weights, num_towers: int) -> list | None:
    """Returns the weights divided by their sum, or None for a plain mean."""
    if weights is None:
        return None
    if len(weights) != num_towers:
        raise ValueError(f"{len(weights)} weights for {num_towers} towers")
    if not any(tf.is_tensor(weight) for weight in weights):
        total = float(sum(weights))
        if not 0 < total < float("inf") or min(weights) < 0:
            raise ValueError(f"weights must not be negative nor all 0, got {weights}")
        return [weight / total for weight in weights]
    weights = [tf.cast(weight, tf.float32) for weight in weights]
    total = tf.add_n(weights)
    return [
        tf.debugging.check_numerics(weight / total, f"weight of tower {k}")
        for k, weight in enumerate(weights)
    ]


def _checked_losses(losses, num_towers: int) -> list[tf.Operation]:
    """Returns ops that fail when a tower's loss is not finite."""
    if losses is None:
        return []
    if len(losses) != num_towers:
        raise ValueError(f"{len(losses)} losses for {num_towers} towers")
    return [
        tf.debugging.check_numerics(loss, f"loss of tower {k}").op
        for k, loss in enumerate(losses)
    ]


def _values(gradient) -> tf.Tensor:
    sparse = isinstance(gradient, tf.IndexedSlices)
    return gradient.values if sparse else gradient


def _with_values(gradient, values: tf.Tensor):
    """Returns the gradient, dense or sparse, with other values."""
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return values


def _checked(gradient: Gradient, variable: tf.Variable, tower: int) -> Gradient:
    """Returns the gradient, seen to be finite on the tower's own device."""
    if gradient is None:
        return None
    values = _values(gradient)
    message = f"gradient of variable '{_name(variable)}' in tower {tower}"
    with tf.device(values.device):
        checked = tf.debugging.check_numerics(values, message)
        if isinstance(gradient, tf.IndexedSlices):
            # Grappler merges checks that meet in one concat, and blames tower 0.
            with tf.control_dependencies([checked]):
                checked = tf.identity(values)
        return _with_values(gradient, checked)


def _average(gradients: list[Gradient], shares: list | None) -> Gradient:
    """Returns the weighted mean of one variable's gradients."""
    if gradients[0] is None:
        return None
    if shares is not None:
        gradients = [
            _with_values(g, _values(g) * tf.cast(share, _values(g).dtype))
            for g, share in zip(gradients, shares, strict=True)
        ]
    count = len(gradients) if shares is None else 1
    if all(isinstance(g, tf.IndexedSlices) for g in gradients):
        return tf.IndexedSlices(
            tf.concat([g.values for g in gradients], 0) / count,
            tf.concat([g.indices for g in gradients], 0),
            gradients[0].dense_shape,
        )
    # add_n adds up in place; stack would hold all towers' gradients a second time.
    return tf.add_n([tf.convert_to_tensor(g) for g in gradients]) / count


def _identity(gradient: Gradient, variable: tf.Variable) -> Gradient:
    """Returns the gradient again, as an op that waits for what was checked."""
    if gradient is None:
        return None
    with tf.device(variable.device):
        return _with_values(gradient, tf.identity(_values(gradient)))
