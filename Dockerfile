# gatewayd as one static file in an image that holds nothing else.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# cgo is for SQLite. The tags keep the C library's resolver, user database and loader out, so that linking it statically is sound.
RUN CGO_ENABLED=1 go build -trimpath \
      -tags netgo,osusergo,sqlite_omit_load_extension,timetzdata \
      -ldflags '-s -w -linkmode external -extldflags "-static"' \
      -o /out/gatewayd ./cmd/gatewayd \
 && mkdir -p /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/gatewayd /usr/local/bin/gatewayd
COPY --from=build /src/LICENSE /src/NOTICE /usr/share/doc/gatewayd/
COPY --from=build --chown=nonroot:nonroot /out/data /data
USER nonroot
WORKDIR /data
VOLUME /data
STOPSIGNAL SIGTERM
# No shell and no curl here: the program asks itself.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["/usr/local/bin/gatewayd", "health"]
ENTRYPOINT ["/usr/local/bin/gatewayd"]
CMD ["run", "--config", "/data/config.yaml"]
