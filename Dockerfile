# The annotation server: docker build -t corefine . && docker run -p 127.0.0.1:8000:8000 -v corefine:/project corefine
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY tools/readme_hook.py ./tools/
COPY src ./src
# The torch of pip's default index brings several gigabytes for GPUs. For a CPU alone, build with
# --build-arg TORCH_INDEX=..., the index for CPUs that torch's own page "Get started" names.
ARG TORCH_INDEX=""
RUN python -m venv /opt/corefine \
 && /opt/corefine/bin/pip install --no-cache-dir --constraint constraints.txt ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch \
 && /opt/corefine/bin/pip install --no-cache-dir --constraint constraints.txt '.[model,web,postgres]'

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 corefine && mkdir /project && chown corefine /project
COPY --from=build /opt/corefine /opt/corefine
ENV PATH=/opt/corefine/bin:$PATH COREFINE_HOME=/project/.home
USER corefine
VOLUME /project
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/')"]
ENTRYPOINT ["corefine"]
CMD ["annotate", "--project", "/project", "--host", "0.0.0.0", "--port", "8000", "--no-browser"]
