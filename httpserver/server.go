// Package httpserver serves HTTP for all servers of this program: listeners, HTTPS, time and size
// limits, an orderly stop, and the middleware before every server's routes.
//
// It owns connections, certificates and the clients' counters. It owns no routes and no answers: a
// server passes it a handler, and its own texts for refusals.
//
//	client ──▶ Server: accept ▸ TLS ▸ header timeout ──▶ handler
//	                                           Middleware: CORS ▸ only HTTPS ▸ path ▸ rate ──▶ routes
package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/sync/errgroup"
)

// MaxHeader bounds the header of a request, in bytes.
const MaxHeader = 16 << 10

const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	writeMargin   = 10 * time.Second // beyond the time of an answer, to hand it over
	stopMargin    = time.Second      // beyond the time of an answer: every request that runs ends in it
)

// Parts are a server's dependencies.
type Parts struct {
	Name    string // in logs and errors: "gateway"
	Handler http.Handler
	Answer  time.Duration  // the longest that the handler takes for an answer
	Log     *logrus.Logger // nil means standard error
}

// Server listens and serves. Run serves once.
type Server struct {
	Parts
	cfg         Config
	log         *logrus.Entry
	certificate *certificate      // nil without TLS files
	acme        *autocert.Manager // nil without ACME
	proxies     []netip.Prefix

	ready           chan struct{} // closed when it listens
	mu              sync.Mutex
	addr, plainAddr string
}

// New takes a configuration that Check has found no fault with, reads the certificate and makes the
// directory of ACME. It starts nothing.
func New(cfg Config, parts Parts) (*Server, error) {
	if parts.Log == nil {
		parts.Log = logrus.New()
	}
	s := &Server{Parts: parts, cfg: cfg, log: parts.Log.WithField("server", parts.Name), ready: make(chan struct{})}
	var err error
	if cfg.files() {
		if s.certificate, err = loadCertificate(cfg.TLS); err != nil {
			return nil, fmt.Errorf("%s: %w", parts.Name, err)
		}
	}
	if cfg.acme() {
		if s.acme, err = newACME(cfg.ACME); err != nil {
			return nil, fmt.Errorf("%s: %w", parts.Name, err)
		}
	}
	if s.proxies, err = prefixes(cfg.TrustProxy); err != nil {
		return nil, fmt.Errorf("%s: %w", parts.Name, err)
	}
	return s, nil
}

// Run listens and serves until ctx ends, then lets the requests that run end.
func (s *Server) Run(ctx context.Context) error {
	l, plain, err := s.listen(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.serve(ctx, l, s.Handler, s.tlsConfig()) })
	if plain != nil {
		g.Go(func() error { return s.serve(ctx, plain, s.plainHandler(), nil) })
	}
	if s.certificate != nil {
		g.Go(func() error { return s.certificate.watchFiles(ctx, s.log) })
	}
	s.setReady(l, plain)
	return g.Wait()
}

// listen opens the listener and, if configured, the plain one.
func (s *Server) listen(ctx context.Context) (l, plain net.Listener, err error) {
	var open net.ListenConfig
	if l, err = open.Listen(ctx, "tcp", s.cfg.Listen); err != nil || s.cfg.PlainListen == "" {
		return l, nil, err
	}
	if plain, err = open.Listen(ctx, "tcp", s.cfg.PlainListen); err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return l, plain, nil
}

// setReady makes known where the server listens, which the system may have chosen.
func (s *Server) setReady(l, plain net.Listener) {
	s.mu.Lock()
	s.addr = l.Addr().String()
	if plain != nil {
		s.plainAddr = plain.Addr().String()
	}
	s.mu.Unlock()
	close(s.ready)
	log := s.log.WithField("url", s.URL())
	if plain != nil {
		log = log.WithField("plain", "http://"+s.PlainAddr())
	}
	log.Info("listening")
	if !s.cfg.Reachable() {
		s.log.Warn("neither TLS nor a trusted proxy: requests of other machines are refused")
	}
}

// serve answers on one listener until ctx ends; with a TLS configuration in TLS. Connections that a
// handler has taken over are its to end.
func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler, config *tls.Config) error {
	server := &http.Server{
		Handler: h, TLSConfig: config, MaxHeaderBytes: MaxHeader,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: 2 * headerTimeout, WriteTimeout: s.Answer + writeMargin, IdleTimeout: idleTimeout,
		ErrorLog: stdlog.New(debugLog{s.log}, "", 0),
	}
	l = newLimitListener(l, s.cfg.MaxConnections, s.proxies)
	done := make(chan error, 1) // the answer of Serve, read below in every case
	go func() {
		if config != nil {
			done <- server.ServeTLS(l, "", "")
			return
		}
		done <- server.Serve(l)
	}()
	select {
	case err := <-done:
		return fmt.Errorf("%s: %w", s.Name, err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Answer+stopMargin)
	defer cancel()
	err := server.Shutdown(stop)
	if err != nil {
		err = errors.Join(fmt.Errorf("stopping the %s: %w", s.Name, err), server.Close())
	}
	if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// debugLog takes the notes of net/http: clients that hang up or speak no TLS.
type debugLog struct{ *logrus.Entry }

func (l debugLog) Write(text []byte) (int, error) {
	l.WithField("note", string(text)).Debug("connection")
	return len(text), nil
}

func (s *Server) tlsConfig() *tls.Config {
	switch {
	case s.acme != nil:
		config := s.acme.TLSConfig()
		config.MinVersion = tls.VersionTLS12
		return config
	case s.certificate != nil:
		return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate.get}
	}
	return nil
}

// plainHandler answers requests to the plain listener of an HTTPS server.
func (s *Server) plainHandler() http.Handler {
	if s.acme != nil {
		return s.acme.HTTPHandler(s.Handler)
	}
	return s.Handler
}

// Ready returns nil once the server listens, or ctx's error.
func (s *Server) Ready(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Addr returns the server's address (host:port) once it is ready; "" before.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// URL is Addr with the scheme that is spoken there.
func (s *Server) URL() string {
	if s.cfg.Secured() {
		return "https://" + s.Addr()
	}
	return "http://" + s.Addr()
}

// PlainAddr returns the address of an HTTPS server's plain listener; "" without one.
func (s *Server) PlainAddr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plainAddr
}
