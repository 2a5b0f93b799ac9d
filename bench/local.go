package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// local is an HTTP server of this process for processes beside it. It serves from its making until close.
type local struct {
	server *http.Server
	addr   string
	ended  chan error // the answer of Serve, once
}

// serveLocal serves h on a port that the system chooses.
func serveLocal(ctx context.Context, h http.Handler) (*local, error) {
	var open net.ListenConfig
	l, err := open.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the clients: %w", err)
	}
	return serveOn(l, h), nil
}

func serveOn(l net.Listener, h http.Handler) *local {
	s := &local{&http.Server{Handler: h, ReadHeaderTimeout: time.Minute}, l.Addr().String(), make(chan error, 1)}
	go func() { s.ended <- s.server.Serve(l) }()
	return s
}

// close ends all connections but those that a handler has taken over.
func (s *local) close() error {
	err := s.server.Close()
	if ended := <-s.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serving the clients: %w", ended))
	}
	return err
}
