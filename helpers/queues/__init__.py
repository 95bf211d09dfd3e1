"""Queue pipelines that never hang, lose no error, and leave no thread behind.

    with tf1.Session(graph=graph) as session:
        session.run([tf1.global_variables_initializer(),
                     tf1.local_variables_initializer()])
        with running_queues(session) as runner:
            for loss in runner.steps([train, loss]):
                ...

`running_queues` runs the pipeline. `diagnose` reports which queue starves, and why.
`feed_queue` fills a queue from NumPy arrays or a Python generator. `film` records how
full the queues were and which threads waited, and shows it with a slider for the time.
"""

from helpers.queues.diagnosis import Diagnosis, QueueState, diagnose
from helpers.queues.feeding import Feed, feed_queue
from helpers.queues.filming import Film, film
from helpers.queues.running import Runner, running_queues

__all__ = [
    "Diagnosis", "Feed", "Film", "QueueState", "Runner",
    "diagnose", "feed_queue", "film", "running_queues",
]
