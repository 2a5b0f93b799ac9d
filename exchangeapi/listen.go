package exchangeapi

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
	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"
)

const (
	maxHeader  = 16 << 10
	headerTime = 5 * time.Second
	idleTime   = 2 * time.Minute
	writeSpare = 10 * time.Second // beyond the time of a request, to hand the answer over
	stopSpare  = time.Second      // beyond the time of the slowest request
	slowTimes  = 6                // a slow operation may take so many requests' times
)

// Run listens and serves until ctx ends, then lets the requests that run end. It serves once.
func (s *Server) Run(ctx context.Context) error {
	var open net.ListenConfig
	l, err := open.Listen(ctx, "tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("exchange API: %w", err)
	}
	if !s.cfg.reachable() {
		s.Log.WithField("listen", s.cfg.Listen).Warn("the exchange API has neither TLS nor a trusted proxy: other machines are turned away")
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.serve(ctx, l) })
	g.Go(func() error { return s.rates.Run(ctx) })
	if s.certificate != nil {
		g.Go(func() error { return s.certificate.follow(ctx, s.cfg.TLS.Reload, s.Log) })
	}
	s.mu.Lock()
	s.addr = l.Addr().String()
	s.mu.Unlock()
	close(s.ready)
	return g.Wait()
}

// serve answers until ctx ends. WebSockets are their hub's to end.
func (s *Server) serve(ctx context.Context, l net.Listener) error {
	slowest := s.cfg.RequestTimeout * slowTimes
	server := &http.Server{
		Handler: s.Handler(), MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTime, ReadTimeout: 2 * headerTime, WriteTimeout: slowest + writeSpare, IdleTimeout: idleTime,
		ErrorLog: stdlog.New(debugLog{s.Log}, "", 0),
	}
	l = netutil.LimitListener(l, s.cfg.MaxConnections)
	done := make(chan error, 1) // the answer of Serve, read below in every case
	go func() {
		if s.certificate != nil {
			server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate.get}
			done <- server.ServeTLS(l, "", "")
			return
		}
		done <- server.Serve(l)
	}()
	select {
	case err := <-done:
		return fmt.Errorf("exchange API: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), slowest+stopSpare)
	defer cancel()
	err := server.Shutdown(stop)
	if err != nil {
		err = errors.Join(fmt.Errorf("stopping the exchange API: %w", err), server.Close())
	}
	if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// debugLog takes the notes of net/http: clients that hang up or speak no TLS.
type debugLog struct{ *logrus.Logger }

func (l debugLog) Write(text []byte) (int, error) {
	l.WithField("note", string(text)).Debug("exchange API connection")
	return len(text), nil
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
			log.WithError(err).Warn("exchange API certificate: the one before stays in use")
		case changed:
			log.Info("exchange API certificate read again")
		}
	}
}
