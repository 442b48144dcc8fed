# Trains on a CPU. From the repository's folder:
#
#     docker build -f docs/deploy/train.Dockerfile -t bert-train .
#     docker run --user "$(id -u)" -v "$PWD:/work" bert-train \
#       bert-run-classifier --do_train --data_dir=MRPC --output_dir=output/mrpc ...
FROM python:3.13-slim

WORKDIR /app
COPY . .
RUN pip install --no-cache-dir .

WORKDIR /work
