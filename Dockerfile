# The command and the Python package, for the CPU:
#   docker build -t fathom .
#   docker run --rm -v "$PWD:/data" fathom distance mask.png -o distance.npy
FROM python:3.12-bookworm AS build
COPY . /fathom
RUN /fathom/scripts/wheels "$(command -v python3)"

FROM python:3.12-slim-bookworm
RUN --mount=from=build,source=/fathom/out/wheels,target=/wheels pip install --no-cache-dir /wheels/*.whl
WORKDIR /data
ENTRYPOINT ["fathom"]
