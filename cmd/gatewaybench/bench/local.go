package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Local is an HTTP server of this process for processes beside it. It serves from its making until Close.
type Local struct {
	server *http.Server
	Addr   string
	ended  chan error // the answer of Serve, once
}

// ServeLocal serves h on a port that the system chooses.
func ServeLocal(ctx context.Context, h http.Handler) (*Local, error) {
	var open net.ListenConfig
	l, err := open.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the clients: %w", err)
	}
	return ServeOn(l, h), nil
}

func ServeOn(l net.Listener, h http.Handler) *Local {
	s := &Local{&http.Server{Handler: h, ReadHeaderTimeout: time.Minute}, l.Addr().String(), make(chan error, 1)}
	go func() { s.ended <- s.server.Serve(l) }()
	return s
}

// Close ends all connections but those that a handler has taken over.
func (s *Local) Close() error {
	err := s.server.Close()
	if ended := <-s.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serving the clients: %w", ended))
	}
	return err
}
