package exchangeapi

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// slowTimes is how many requests' times a slow operation may take.
const slowTimes = 6

// Run listens and serves until ctx ends, then lets the requests that run end. It serves once. WebSockets are their hub's to end.
func (s *Server) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.server.Run(ctx) })
	g.Go(func() error { return s.rates.Run(ctx) })
	return g.Wait()
}

// Ready returns nil once the server listens, or ctx's error.
func (s *Server) Ready(ctx context.Context) error { return s.server.Ready(ctx) }

// Addr is where the server listens, once it is ready; "" before.
func (s *Server) Addr() string { return s.server.Addr() }
