package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProfile: an operator who is signed in gets profiles of the process, no one else does.
func TestProfile(t *testing.T) {
	p := newPage(t)
	paths := []string{"/profile/cpu?seconds=1", "/profile/heap", "/profile/allocs", "/profile/goroutine", "/profile/mutex", "/profile/block"}
	for _, path := range paths {
		status, _ := p.ask(http.MethodGet, path, nil)
		require.Equal(t, http.StatusUnauthorized, status, path)
	}
	for _, role := range []string{"viewer", "approver"} {
		p.signIn(role)
		status, _ := p.ask(http.MethodGet, paths[0], nil)
		require.Equal(t, http.StatusForbidden, status, role)
	}
	p.signIn("operator")
	for _, path := range paths {
		status, text := p.ask(http.MethodGet, path, nil)
		require.Equal(t, http.StatusOK, status, path)
		require.True(t, strings.HasPrefix(text, "\x1f\x8b"), "%s: a compressed profile", path)
	}
	for path, want := range map[string]int{
		"/profile/cpu?seconds=0": http.StatusBadRequest, "/profile/cpu?seconds=9": http.StatusBadRequest, "/profile/cpu?seconds=x": http.StatusBadRequest,
		"/profile/cmdline": http.StatusNotFound,
	} {
		status, _ := p.ask(http.MethodGet, path, nil)
		require.Equal(t, want, status, path)
	}
}
