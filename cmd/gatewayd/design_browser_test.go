package main

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/web"
)

var updatePictures = flag.Bool("update-pictures", false, "write testdata/design/*.png")

// TestDesignPageInBrowser compares each component of the pages with its stored picture.
func TestDesignPageInBrowser(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	for path, page := range web.Start(web.Site{Demo: true}) {
		mux.Handle(path, page)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	_, _, playwright := browserTools(t)
	stored, err := filepath.Abs("testdata/design")
	require.NoError(t, err)
	drive(t, "testdata/design_browser.mjs", map[string]any{
		"page": server.URL + "/design", "stored": stored, "update": *updatePictures, "npm": "file://" + filepath.Join(filepath.Dir(playwright), ".."),
	})
}
