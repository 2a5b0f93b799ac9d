package httpserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/acme/autocert"
)

// newACME makes the cache's directory, so that a fault shows at the start and not at the first
// visit.
func newACME(c ACME) (*autocert.Manager, error) {
	if err := os.MkdirAll(c.Cache, 0o700); err != nil {
		return nil, fmt.Errorf("making the cache of certificates: %w", err)
	}
	return &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(c.Cache), HostPolicy: autocert.HostWhitelist(c.Domains...), Email: c.Email,
	}, nil
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

// reload reads the files when they changed since. Until both fit together the pair before stays in
// use.
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

// watchFiles reloads the files when they change, until ctx ends.
func (c *certificate) watchFiles(ctx context.Context, log *logrus.Entry) error {
	tick := time.NewTicker(c.files.Reload)
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
			log.WithError(err).Warn("reloading the certificate: the previous one stays in use")
		case changed:
			log.Info("certificate read again")
		}
	}
}
