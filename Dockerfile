# gatewayd as one static file in an image that holds nothing else. `make release` makes the same image without a Docker engine.
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
ARG TARGETARCH
ARG VERSION=dev
ARG COMMIT=
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN scripts/build.sh "$TARGETARCH" "$VERSION" "$COMMIT" /out/gatewayd \
 && scripts/image-root.sh /out/gatewayd /out/root \
 && mkdir -m 700 /out/own && mkdir -m 750 /out/shared

FROM scratch
COPY --from=build /out/root /
COPY --from=build --chown=65532:65532 /out/own /data
COPY --from=build --chown=65532:65532 /out/own /home/nonroot
COPY --from=build --chown=65533:65533 /out/own /var/lib/gatewayd-signer
COPY --from=build --chown=65533:65533 /out/shared /run/gatewayd-signer
USER 65532:65532
WORKDIR /data
VOLUME /data
ENV PATH=/usr/local/bin
STOPSIGNAL SIGTERM
# No shell and no curl here: the program asks itself.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["/usr/local/bin/gatewayd", "health"]
ENTRYPOINT ["/usr/local/bin/gatewayd"]
CMD ["run", "--config", "/data/config.yaml"]
