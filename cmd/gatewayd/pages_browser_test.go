package main

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/devnet"
)

// TestStartPageInBrowser opens the start page of both listeners in every look.
func TestStartPageInBrowser(t *testing.T) {
	t.Parallel()
	r := pagesRig(t)
	drive(t, "testdata/start_browser.mjs", map[string]any{"gateway": devnet.RootOf(r.Info.Gateway), "exchange": devnet.RootOf(r.Info.API)})
}

// pagesRig is an environment with an exchange API, whose pages know of each other.
func pagesRig(t *testing.T, adjust ...func(*devnet.Options)) *rig {
	t.Helper()
	return newRig(t, append(adjust, func(o *devnet.Options) { o.Listen, o.API = freeAddress(t), freeAddress(t) })...)
}

// drive runs a script in a browser. What it is given besides: the tools, the directory for pictures, and which origins it may ask: those of the
// URLs that it is given.
func drive(t *testing.T, script string, given map[string]any) {
	t.Helper()
	node, browser, playwright := browserTools(t)
	axe := filepath.Join(filepath.Dir(playwright), "..", "axe-core", "axe.min.js")
	pictures, err := filepath.Abs("../../build/pictures")
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
	all := map[string]any{"playwright": "file://" + playwright, "browser": browser, "axe": axe, "pictures": pictures, "origins": origins}
	for key, value := range given {
		all[key] = value
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	output, err := exec.CommandContext(t.Context(), node, script, string(text)).CombinedOutput()
	require.NoError(t, err, string(output))
	t.Log(string(output))
}
