package main

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
)

// TestStartPageInBrowser opens the start page of both listeners in every theme.
func TestStartPageInBrowser(t *testing.T) {
	t.Parallel()
	r := pagesRig(t, func(o *dev.Options) { o.Past = true })
	drive(t, "testdata/start_browser.mjs", map[string]any{"gateway": dev.RootOf(r.Info.Gateway), "exchange": dev.RootOf(r.Info.API)})
}

// pagesRig is an environment with an exchange API, whose pages link to each other.
func pagesRig(t *testing.T, adjust ...func(*dev.Options)) *rig {
	t.Helper()
	return newRig(t, append(adjust, func(o *dev.Options) { o.Listen, o.API = freeAddress(t), freeAddress(t) })...)
}

// drive runs a script in a browser. What it is given besides: the tools, the directory for pictures
// (GATEWAYD_PICTURES, or build/pictures), and which origins it may ask: those of the URLs that it
// is given. It answers what the script prints.
func drive(t *testing.T, script string, given map[string]any) []byte {
	t.Helper()
	node, browser, playwright := browserTools(t)
	axe := filepath.Join(filepath.Dir(playwright), "..", "axe-core", "axe.min.js")
	pictures, err := filepath.Abs(cmp.Or(os.Getenv("GATEWAYD_PICTURES"), "../../build/pictures"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(pictures, 0o755))
	var origins []string
	for _, value := range given {
		if text, ok := value.(string); ok {
			if u, err := url.Parse(text); err == nil && u.Scheme == "http" {
				origins = append(origins, u.Scheme+"://"+u.Host)
			}
		}
	}
	all := map[string]any{"playwright": "file://" + playwright, "browser": browser, "axe": axe, "pictures": pictures, "origins": origins, "everyLook": os.Getenv("GATEWAYD_EVERY_LOOK") != ""}
	for key, value := range given {
		all[key] = value
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), node, script, string(text))
	var said strings.Builder
	cmd.Stderr = &said
	output, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", output, said.String())
	return output
}

// TestTradePageInBrowser trades on the trade page while the market maker moves the book.
func TestTradePageInBrowser(t *testing.T) {
	t.Parallel()
	r := livelyRig(t, dev.DemoOptions{Market: true})
	drive(t, "testdata/trade_browser.mjs", map[string]any{"gateway": dev.RootOf(r.Info.Gateway), "exchange": dev.RootOf(r.Info.API)})
}

// livelyRig is an environment whose pages have a demo user.
func livelyRig(t *testing.T, o dev.DemoOptions) *rig {
	t.Helper()
	log, err := daemon.NewLog(config.Log{Level: "warn"}, t.Output())
	require.NoError(t, err)
	users := dev.NewDemoUsers(o, log)
	r := pagesRig(t, func(d *dev.Options) { d.Demo, d.Past = users.Demo(), o.Market })
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1) // room for the one answer
	go func() { ended <- users.Run(ctx, r.Info) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return r
}
