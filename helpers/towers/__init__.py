"""Data parallelism with towers: one model copy per device, one averaged update.

    devices = cpu_devices(4)
    optimizer = tf1.train.MomentumOptimizer(0.01, 0.9)

    def tower(images, labels):
        loss = loss_of(vgg_net(images), labels)
        return loss, optimizer.compute_gradients(loss)

    slices = split_batch((images, labels), len(devices))
    losses, gradients = zip(*build_towers(tower, devices, slices))
    train = optimizer.apply_gradients(process_gradient_list(gradients, losses=losses))

Devices are strings, so the same code runs on four logical CPUs, four GPUs, or four
tasks of a cluster.
"""

from helpers.towers.averaging import process_gradient_list
from helpers.towers.building import build_towers, split_batch, variables_on
from helpers.towers.hardware import cpu_devices, devices, session_config

__all__ = [
    "build_towers",
    "cpu_devices",
    "devices",
    "process_gradient_list",
    "session_config",
    "split_batch",
    "variables_on",
]
