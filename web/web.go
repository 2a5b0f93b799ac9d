// Package web holds the pages that people open in a browser, as files in the program. It owns how they are served: their types, and the headers
// that keep other pages and other scripts away from them. It owns no data and asks no server: a page's script calls the public API as any client
// does.
package web

import (
	"embed"
	"net/http"
	"path"
	"strings"
)

//go:embed keys
var files embed.FS

// policy lets a page load what this server serves with it, talk to this server, and nothing else; no inline script or style, no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Keys is the page of API keys: what is served at which path. It works below any base path.
func Keys() map[string]http.Handler {
	return map[string]http.Handler{
		"/keys":          page("keys/keys.html", "text/html; charset=utf-8"),
		"/keys/keys.js":  page("keys/keys.js", "text/javascript; charset=utf-8"),
		"/keys/keys.css": page("keys/keys.css", "text/css; charset=utf-8"),
		"/keys/keys.svg": page("keys/keys.svg", "image/svg+xml"),
	}
}

// page serves one file. Its links are relative to its path without a slash behind, so with one it moves there.
func page(name, mime string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		asked, _, _ := strings.Cut(r.RequestURI, "?")
		if strings.HasSuffix(asked, "/") {
			h.Set("Location", "../"+path.Base(asked))
			w.WriteHeader(http.StatusPermanentRedirect)
			return
		}
		text, err := files.ReadFile(name)
		if err != nil {
			http.Error(w, "the page is missing", http.StatusInternalServerError)
			return
		}
		h.Set("Content-Type", mime)
		_, _ = w.Write(text) // fails when the client has gone
	}
}
