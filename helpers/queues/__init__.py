"""Queue pipelines that never hang, lose no error, and leave no thread behind.

    with tf1.Session(graph=graph) as session:
        session.run([tf1.global_variables_initializer(),
                     tf1.local_variables_initializer()])
        with running_queues(session) as runner:
            for loss in runner.steps([train, loss]):
                ...

`running_queues` drives the pipeline, `diagnose` says which queue starves and why,
`feed_queue` fills a queue from NumPy arrays or a Python generator, `film` shows how
the queues filled and who waited, with a knob for the time.
"""

from helpers.queues.diagnosis import Diagnosis, QueueState, diagnose
from helpers.queues.feeding import Feed, feed_queue
from helpers.queues.filming import Film, film
from helpers.queues.running import Runner, running_queues

__all__ = [
    "Diagnosis", "Feed", "Film", "QueueState", "Runner",
    "diagnose", "feed_queue", "film", "running_queues",
]
