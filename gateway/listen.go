package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"
)

const (
	maxHeader  = 16 << 10
	headerTime = 5 * time.Second
	idleTime   = 2 * time.Minute
	writeSpare = 10 * time.Second // beyond the time of a request, to hand the answer over
	stopTime   = 10 * time.Second // above maxRequestTimeout: every request that runs ends in it
)

// Run listens and serves until ctx ends, then lets the requests that run end. It serves once.
func (s *Server) Run(ctx context.Context) error {
	defer s.calls.Wait()
	l, plain, err := s.listen(ctx)
	if err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	if !s.cfg.reachable() {
		s.Log.WithField("listen", s.cfg.Listen).Warn("the gateway has neither TLS nor a trusted proxy: other machines are turned away")
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.serve(ctx, l, s.Handler(), s.tlsConfig()) })
	s.setAddr(&s.addr, l)
	if plain != nil {
		g.Go(func() error { return s.serve(ctx, plain, s.plainHandler(), nil) })
		s.setAddr(&s.plainAddr, plain)
	}
	if s.certificate != nil {
		g.Go(func() error { return s.certificate.follow(ctx, s.cfg.TLS.Reload, s.Log) })
	}
	close(s.ready)
	return g.Wait()
}

// listen opens the listener and, when there is one, the plain one beside it.
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

func (s *Server) setAddr(to *string, l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*to = l.Addr().String()
}

// serve answers on one listener until ctx ends; with a TLS configuration in TLS.
func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler, config *tls.Config) error {
	server := &http.Server{
		Handler: h, TLSConfig: config, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTime, ReadTimeout: 2 * headerTime, WriteTimeout: s.cfg.RequestTimeout + writeSpare, IdleTimeout: idleTime,
		ErrorLog: stdlog.New(debugLog{s.Log}, "", 0),
	}
	l = netutil.LimitListener(l, s.cfg.MaxConnections)
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
		return fmt.Errorf("gateway: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err := server.Shutdown(stop)
	if err != nil {
		err = errors.Join(fmt.Errorf("stopping the gateway: %w", err), server.Close())
	}
	if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// debugLog takes the notes of net/http: clients that hang up or speak no TLS.
type debugLog struct{ *logrus.Logger }

func (l debugLog) Write(text []byte) (int, error) {
	l.WithField("note", string(text)).Debug("gateway connection")
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

// plainHandler answers what comes to the plain listener beside an HTTPS one.
func (s *Server) plainHandler() http.Handler {
	if s.acme != nil {
		return s.acme.HTTPHandler(s.Handler())
	}
	return s.Handler()
}

func newACME(c ACME) *autocert.Manager {
	return &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(c.Cache), HostPolicy: autocert.HostWhitelist(c.Domains...), Email: c.Email,
	}
}

// certificate is the pair of files in use.
type certificate struct {
	files   TLS
	stamp   string // of the files when they were read; owned by the one that calls reload
	current atomic.Pointer[tls.Certificate]
}

func loadCertificate(files TLS) (*certificate, error) {
	c := &certificate{files: files}
	_, err := c.reload()
	return c, err
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.current.Load(), nil
}

// reload reads the files when they changed since. Until both fit together the pair before stays in use.
func (c *certificate) reload() (changed bool, err error) {
	stamp := ""
	for _, file := range []string{c.files.Cert, c.files.Key} {
		info, err := os.Stat(file)
		if err != nil {
			return false, fmt.Errorf("reading the certificate: %w", err)
		}
		stamp += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), " ")
	}
	if stamp == c.stamp {
		return false, nil
	}
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return false, fmt.Errorf("reading the certificate: %w", err)
	}
	c.current.Store(&pair)
	c.stamp = stamp
	return true, nil
}

// follow looks at the files until ctx ends.
func (c *certificate) follow(ctx context.Context, every time.Duration, log *logrus.Logger) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		changed, err := c.reload()
		switch {
		case err != nil:
			log.WithError(err).Warn("gateway certificate: the one before stays in use")
		case changed:
			log.Info("gateway certificate read again")
		}
	}
}
