package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/signer/remote"
)

// signerProcess is `gatewayd signer` as a separate process.
type signerProcess struct {
	config string
	socket string
	data   string
	log    logText
	cmd    *exec.Cmd
}

// splitSigner moves the keys of a daemon's configuration into one of a signer, which the daemon
// asks over a socket. It starts nothing.
func splitSigner(t *testing.T, c *config.Config) *signerProcess {
	t.Helper()
	dir := shortDir(t)
	s := &signerProcess{config: filepath.Join(dir, "signer.yaml"), socket: filepath.Join(dir, "signer.sock"), data: filepath.Join(dir, "data")}
	of := *c
	of.Data, of.Wallet.RPC, of.Exchange, of.Embedded = s.data, c.Wallet.RPC, nil, nil
	of.Signer = config.Signer{Config: c.Signer.Config, Guard: c.Signer.Guard, Place: remote.Config{Listen: "unix:" + s.socket}}
	text, err := yaml.Marshal(of)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.config, text, 0o600))
	c.Wallet, c.Signer = config.Wallet{Signer: "unix:" + s.socket}, config.Signer{}
	return s
}

// shortDir is for a socket, whose name is short.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "signer")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func (s *signerProcess) start(t *testing.T) {
	t.Helper()
	s.cmd = exec.Command("gatewayd", "signer", "-c", s.config)
	s.cmd.Stderr = io.MultiWriter(t.Output(), &s.log)
	require.NoError(t, s.cmd.Start())
	cmd := s.cmd
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

func (s *signerProcess) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait() // it was killed
}
