# The course in a container: the server listens inside it, and you choose who reaches it.
#
#   docker build -t tensorflow-course .
#   docker run --rm -p 127.0.0.1:8888:8888 tensorflow-course
#
# The second line prints an address with a token; only this machine can open it. For a
# test of everything:
#
#   docker run --rm --network none tensorflow-course python3 course.py test
# Any Debian with Python 3.10 to 3.13 and its venv serves as the base.
ARG BASE=python:3.11-slim
FROM ${BASE} AS base

RUN useradd --create-home learner && install -d -o learner /course
WORKDIR /course
USER learner

FROM base

# A layer of its own: it is made again only when the packages change.
COPY --chown=learner course.py requirements.txt requirements-dev.txt \
    requirements-gpu.txt ./
COPY --chown=learner tools/command.py tools/environment.py tools/
RUN python3 -c "import course; course.check_machine(); course.set_up()" \
    && rm -rf ~/.cache

COPY --chown=learner . .

EXPOSE 8888
HEALTHCHECK --start-period=60s CMD ["python3", "-c", \
    "import urllib.request as u; u.urlopen('http://127.0.0.1:8888/api', timeout=5)"]
CMD ["python3", "course.py", "lab", "--ServerApp.ip=0.0.0.0", "--no-browser"]
