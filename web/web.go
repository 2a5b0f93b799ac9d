// Package web holds the pages that people open in a browser, as files in the program. It owns how
// they are served: their types, what browsers may keep of them, and the headers that keep other
// pages and other scripts away from them. It owns no data and asks no server: a page's script calls
// the public API as any client does.
//
// The pages are built from ui by scripts/web.sh into dist, which is committed, so that building the
// program takes no Node.
package web

import (
	"embed"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed dist
var files embed.FS

// Site contains the pages' addresses, as links from the root of the listener that serves it. Links
// are relative on the same listener and complete URLs on another. A page that is not served, or
// whose address only its operator knows, has none.
type Site struct {
	Bridge string `json:"bridge,omitempty"`
	Trade  string `json:"trade,omitempty"`
	Keys   string `json:"keys,omitempty"`
	// Reference describes the API of the listener.
	Reference string `json:"reference,omitempty"`
	// Console is sent on its own listener alone.
	Console string `json:"console,omitempty"`
	// Design shows the components of the pages, in development environments.
	Design string `json:"design,omitempty"`
	// Rates is the exchange API that knows the rates of tokens, without its base path.
	Rates string `json:"rates,omitempty"`
	// Operator is who runs the site.
	Operator
	// Reserves: the gateway publishes /reserves.
	Reserves bool `json:"reserves,omitempty"`
	// Started is when this process began to serve.
	Started time.Time `json:"started,omitzero"`
	// Demo marks a development environment for the pages, which may act for its demo user.
	Demo bool `json:"demo,omitempty"`
}

// Operator is who runs the site: the URL at which users reach the operator, the operator's name,
// and the URL of the terms of use.
type Operator struct {
	Contact string `json:"contact,omitempty"`
	Name    string `json:"operator,omitempty"`
	Legal   string `json:"terms,omitempty"`
}

// Keys is the page of API keys, with what it loads. It works below any base path.
func Keys() map[string]http.Handler {
	return with(built(), "/keys", page("dist/keys.html", never, policy))
}

// Bridge is the bridge page, with what it loads. It may ask another origin for rates: the root URL
// of the exchange API; "" for none.
func Bridge(rates string) map[string]http.Handler {
	return with(built(), "/bridge", page("dist/bridge.html", asked, connecting(rates)))
}

// Trade is the trade page, with what it loads. It works below any base path.
func Trade() map[string]http.Handler {
	return with(built(), "/trade", page("dist/trade.html", asked, policy))
}

// Reference is the page of a listener's API, with what it loads and the links to the pages of the
// site. It works below any base path.
func Reference(site Site) map[string]http.Handler {
	pages := with(built(), "/docs", page("dist/docs.html", asked, referencePolicy))
	return with(pages, "/site.json", siteHandler(site))
}

// Console is the operators' page, with what it loads. Who opens the root of its listener is led
// there.
func Console(demo bool) map[string]http.Handler {
	pages := with(built(), "/console", page("dist/console.html", asked, policy))
	pages["/"] = http.RedirectHandler("console", http.StatusFound)
	return with(pages, "/site.json", siteHandler(Site{Console: "console", Demo: demo}))
}

// Start is the start page of a listener, at its root, with links to the pages of the site. A
// development environment also has the page of components.
func Start(site Site) map[string]http.Handler {
	pages := with(built(), "/", page("dist/start.html", asked, policy))
	if site.Demo {
		site.Design = "design"
		pages = with(pages, "/design", page("dist/design.html", asked, policy))
	}
	return with(pages, "/site.json", siteHandler(site))
}

// Join is all of several pages.
func Join(pages ...map[string]http.Handler) map[string]http.Handler {
	all := map[string]http.Handler{}
	for _, p := range pages {
		maps.Copy(all, p)
	}
	return all
}

func with(pages map[string]http.Handler, at string, h http.Handler) map[string]http.Handler {
	pages[at] = h
	return pages
}

// built are the files that the built pages load. Their names hold a hash of what is in them.
func built() map[string]http.Handler {
	list, err := fs.ReadDir(files, "dist/assets")
	if err != nil {
		panic(err) // it is in the program
	}
	all := map[string]http.Handler{}
	for _, entry := range list {
		name := path.Join("assets", entry.Name())
		all["/"+name] = asset(path.Join("dist", name))
	}
	return all
}

// siteHandler answers the links of the site.
func siteHandler(site Site) http.HandlerFunc {
	text, err := json.Marshal(site)
	if err != nil {
		panic(err) // strings and a flag
	}
	return func(w http.ResponseWriter, r *http.Request) {
		guard(w.Header(), policy)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", asked)
		_, _ = w.Write(text) // fails when the client has gone
	}
}

// mimes are the types of the files, by the end of the name.
var mimes = map[string]string{
	".html":  "text/html; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".svg":   "image/svg+xml",
	".txt":   "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

// What browsers may keep of a file.
const (
	never = "no-store" // nothing: who comes back to the page of keys must not find a secret
	asked = "no-cache" // all, but they ask whether it has changed
	fixed = "public, max-age=31536000, immutable"
)

// page serves one file under a policy. Its links are relative to its path without a slash behind,
// so with one it moves there.
func page(name, cache, rules string) http.HandlerFunc {
	f := newFile(name, cache)
	return func(w http.ResponseWriter, r *http.Request) {
		guard(w.Header(), rules)
		target, _, _ := strings.Cut(r.RequestURI, "?")
		if strings.HasSuffix(target, "/") && path.Clean(target) != "/" {
			w.Header().Set("Location", "../"+path.Base(target))
			w.WriteHeader(http.StatusPermanentRedirect)
			return
		}
		f.serve(w, r)
	}
}

// asset serves one file that never changes under its name, but for the list of licences, whose name
// has no hash.
func asset(name string) http.HandlerFunc {
	cache := fixed
	if path.Ext(name) == ".txt" {
		cache = asked
	}
	f := newFile(name, cache)
	return func(w http.ResponseWriter, r *http.Request) {
		guard(w.Header(), policy)
		f.serve(w, r)
	}
}

// policy lets a page load what this server serves with it, talk to this server, and nothing else
// but what a page's own policy adds; no inline script or style, no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// connecting is the policy of a page that asks another origin too, if there is one.
func connecting(origin string) string {
	return strings.Replace(policy, "connect-src 'self'", strings.TrimSpace("connect-src 'self' "+origin), 1)
}

// referencePolicy is the policy of the reference page. The library that draws the API makes styles
// and has pictures in them.
var referencePolicy = strings.NewReplacer("style-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self'", "img-src 'self' data:").Replace(policy)

// guard sets the headers that keep others away.
func guard(h http.Header, rules string) {
	h.Set("Content-Security-Policy", rules)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
