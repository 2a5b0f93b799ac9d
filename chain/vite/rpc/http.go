package rpc

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"gatewayd/chain/vite/node"
)

// healthyAge is how old the latest snapshot block of a healthy node may be.
const healthyAge = 3 * time.Minute

// guard is what stands before the JSON-RPC server: the host check (against pages that point a name of theirs at a local
// node), CORS and the health page. Method, content type and body size are checked by the JSON-RPC server itself.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.hostAllowed(r.Host) {
			http.Error(w, "invalid host specified", http.StatusForbidden)
			return
		}
		s.allowOrigin(w, r)
		switch {
		case r.Method == http.MethodOptions:
			w.WriteHeader(http.StatusNoContent)
		case r.Method == http.MethodGet && r.URL.Path == "/health":
			s.health(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hostAllowed passes IP addresses, listed names, and requests without a host (HTTP/1.0).
func (s *Server) hostAllowed(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if host == "" || net.ParseIP(strings.Trim(host, "[]")) != nil {
		return true
	}
	for _, name := range s.cfg.VirtualHosts {
		if name == "*" || strings.EqualFold(name, host) {
			return true
		}
	}
	return false
}

func (s *Server) allowOrigin(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return
	}
	h := w.Header()
	switch {
	case slices.Contains(s.cfg.Origins, "*"):
		h.Set("Access-Control-Allow-Origin", "*")
	case slices.Contains(s.cfg.Origins, origin):
		h.Set("Access-Control-Allow-Origin", origin)
		h.Add("Vary", "Origin")
	default:
		return
	}
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "POST, GET")
		h.Set("Access-Control-Allow-Headers", "Content-Type")
		h.Set("Access-Control-Max-Age", "600")
	}
}

// health is 200 while snapshot blocks come, else 500.
func (s *Server) health(w http.ResponseWriter) {
	if !s.healthy() {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (s *Server) healthy() bool {
	head := read(s.node, func(v *node.View) node.Point { return v.Head() })
	return s.cfg.Now().Sub(head.Time) < healthyAge
}
