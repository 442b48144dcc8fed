# Answers with a LiteRT export, without TensorFlow. From the repository's folder:
#
#     docker build -f docs/deploy/predict.Dockerfile -t bert-predict .
#     docker run -p 8501:8501 -v "$PWD/output/mrpc_model:/model:ro" bert-predict
FROM python:3.13-slim

WORKDIR /app
COPY . .
RUN pip install --no-cache-dir -r requirements/predict.txt \
    && pip install --no-cache-dir --no-deps . \
    && useradd --create-home --uid 10001 bert

USER 10001
EXPOSE 8501
ENTRYPOINT ["bert-serve"]
CMD ["--model=bert=/model", "--host=0.0.0.0"]
