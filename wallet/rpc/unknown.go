package rpc

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
)

// OtherMethod represents all methods that the wallet does not have: callers must not create names
// of metrics.
const OtherMethod = "other"

// methods are the names of what the module offers, as a request has them.
func methods(module any) map[string]bool {
	known := map[string]bool{"rpc_modules": true}
	for m := range reflect.TypeOf(module).Methods() {
		known["wallet_"+strings.ToLower(m.Name[:1])+m.Name[1:]] = true
	}
	return known
}

// countUnknown inspects a request over HTTP before it is served. Calls of existing methods are
// counted where they are served, on any transport.
func (s *Server) countUnknown(r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1)) // what is larger is refused
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	if err != nil {
		return
	}
	type call struct {
		Method string `json:"method"`
	}
	calls := make([]call, 1)
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		err = json.Unmarshal(body, &calls)
	} else {
		err = json.Unmarshal(body, &calls[0])
	}
	if err != nil {
		return
	}
	for _, c := range calls[:min(len(calls), maxBatch)] {
		if !s.known[c.Method] {
			s.called(OtherMethod, true)
		}
	}
}
