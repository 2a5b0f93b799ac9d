package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
)

// TestDevStartsWithoutWarnings: a clean start of `gatewayd dev` logs nothing, on a fresh chain and
// on one of an earlier day, until the markets have orders.
func TestDevStartsWithoutWarnings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		p, info := startDev(t, dir)
		waitFor(t, "the market maker's orders", func() bool {
			return regexp.MustCompile(`"bids":\[\[`).MatchString(textAt(info.API + "/depth?symbol=" + info.Tokens[0].Symbol + "_VITE"))
		})
		waitFor(t, "payments that flow", func() bool {
			return regexp.MustCompile(`"status":"ok"`).MatchString(textAt(info.Operators + "/health"))
		})
		p.stop(t)
		require.NotRegexp(t, "level=(warning|error|fatal|panic)", p.logged())
	}
}

// startDev starts `gatewayd dev` as a newcomer does, on free ports, and waits until it is ready.
func startDev(t *testing.T, dir string, flags ...string) (*program, dev.Info) {
	t.Helper()
	described := filepath.Join(dir, "dev.json")
	_ = os.Remove(described) // there is none at the first start
	any := "127.0.0.1:0"
	args := append([]string{"dev", "--dir", dir, "--listen", any, "--exchange-listen", any, "--api", any, "--operators", any}, flags...)
	p := &program{cmd: exec.Command("gatewayd", args...), exited: make(chan error, 1)} // room for its one end
	p.cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())                            // the newest environment of the machine is another one
	p.start(t)
	var info dev.Info
	waitFor(t, "an environment that is ready", func() (ready bool) {
		select {
		case err := <-p.exited:
			require.FailNow(t, "it has ended", "%v\n%s", err, p.logged())
		default:
		}
		var err error
		info, err = dev.ReadInfo(described)
		return err == nil
	})
	return p, info
}

// textAt is the answer at a URL; empty while there is none.
func textAt(url string) string {
	answer, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}
