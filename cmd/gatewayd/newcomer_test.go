package main

import (
	"testing"

	"gatewayd/dev"
)

// TestNewcomerInBrowser follows README's instructions for a newcomer. Its pictures are README's:
// `make pictures` renews them.
func TestNewcomerInBrowser(t *testing.T) {
	t.Parallel()
	r := livelyRig(t, dev.DemoOptions{Market: true})
	drive(t, "testdata/newcomer_browser.mjs", map[string]any{"gateway": dev.RootOf(r.Info.Gateway), "exchange": dev.RootOf(r.Info.API)})
}
