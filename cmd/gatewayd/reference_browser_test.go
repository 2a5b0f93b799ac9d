package main

import (
	"testing"

	"gatewayd/dev"
)

// TestReferencePageInBrowser opens the API pages of both listeners, tries an operation on each, and
// subscribes to a topic of the WebSocket.
func TestReferencePageInBrowser(t *testing.T) {
	t.Parallel()
	r := livelyRig(t, dev.DemoOptions{Market: true})
	drive(t, "testdata/api_browser.mjs", map[string]any{"gateway": dev.RootOf(r.Info.Gateway), "exchange": dev.RootOf(r.Info.API)})
}
