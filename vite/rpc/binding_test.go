package rpc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
)

// binding relates what the recorded chain calls things to what our chain calls them: hashes, ids of
// issued tokens, addresses of created contracts. It learns by seeing both in the same place and
// must never find a second meaning.
type binding struct {
	ours   map[string]string // by recorded name
	theirs map[string]string // by our name
}

func newBinding() *binding {
	b := &binding{ours: make(map[string]string), theirs: make(map[string]string)}
	zero := core.Hash{}.String()
	b.ours[zero], b.theirs[zero] = zero, zero
	return b
}

var hexHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

var subscriptionID = regexp.MustCompile(`^0x[0-9a-f]{1,32}$`)

// relate records that two names mean the same, or returns a contradiction.
func (b *binding) relate(recorded, our string) error {
	known, ok := b.ours[recorded]
	if !ok && b.theirs[our] == "" {
		b.ours[recorded], b.theirs[our] = our, recorded
		return nil
	}
	if known != our {
		return fmt.Errorf("%s: recorded %s means %q here", our, recorded, known)
	}
	return nil
}

// translate converts recorded parameters to ours: complete texts that are names, and token IDs
// inside call data.
func (b *binding) translate(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, member := range v {
			out[b.text(k)] = b.translate(member)
			if raw, ok := member.(string); ok && k == "data" {
				out[k] = b.callData(raw)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = b.translate(v[i])
		}
		return out
	case string:
		return b.text(v)
	}
	return v
}

func (b *binding) text(s string) string {
	if our, ok := b.ours[strings.ToLower(s)]; ok {
		return our
	}
	return s
}

// callData replaces the ids of issued tokens inside Base64 data.
func (b *binding) callData(raw string) string {
	data, err := base64.StdEncoding.DecodeString(raw)
	if err != nil {
		return raw
	}
	for recorded, our := range b.ours {
		if !strings.HasPrefix(recorded, "tti_") {
			continue
		}
		from, errFrom := core.ParseTokenID(recorded)
		to, errTo := core.ParseTokenID(our)
		if errFrom == nil && errTo == nil {
			data = bytes.ReplaceAll(data, from[:], to[:])
		}
	}
	return base64.StdEncoding.EncodeToString(data)
}

// comparison holds an answer of ours against the recorded one.
type comparison struct {
	names *binding
	loose map[string]bool // members whose value may differ for this line; type and nullness still count
}

// ownValue are the members that carry a chain's own times, keys and random numbers: their values
// never compare.
var ownValue = map[string]bool{
	"timestamp": true, "expirationTime": true, "signature": true, "publicKey": true, "producer": true, "seed": true,
}

// differ lists all differences of two JSON values; nil if there are none. It continues after a
// difference, because it learns names on the way.
func (c *comparison) differ(path string, want, got any) error {
	if blank(want) && blank(got) && strings.HasSuffix(path, ".data") {
		return nil // null and "" are both seen from real nodes for absent data
	}
	if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
		return fmt.Errorf("%s: want %s, got %s", path, shown(want), shown(got))
	}
	switch want := want.(type) {
	case map[string]any:
		return c.differMembers(path, want, got.(map[string]any))
	case []any:
		return c.differLists(path, want, got.([]any))
	case string:
		return c.differTexts(path, want, got.(string))
	case json.Number, bool:
		if want != got && !c.mayDiffer(path) {
			return fmt.Errorf("%s: want %v, got %v", path, want, got)
		}
	}
	return nil
}

func blank(v any) bool { return v == nil || v == "" }

func shown(v any) string {
	raw, _ := json.Marshal(v)
	return jsonrpc.Shortened(string(raw))
}

func (c *comparison) mayDiffer(path string) bool {
	member := path[strings.LastIndex(path, ".")+1:]
	return ownValue[member] || c.loose[member]
}

func (c *comparison) differMembers(path string, want, got map[string]any) error {
	names := make([]string, 0, len(want))
	for name := range want {
		names = append(names, name)
	}
	sort.Strings(names)
	var all []error
	for _, name := range names {
		ours := c.names.text(name)
		member, ok := got[ours]
		if !ok {
			all = append(all, fmt.Errorf("%s: member %s is missing", path, ours))
			continue
		}
		all = append(all, c.differ(path+"."+name, want[name], member))
	}
	for name := range got {
		if _, ok := want[name]; !ok && c.names.theirs[name] == "" {
			all = append(all, fmt.Errorf("%s: member %s is not in the recording", path, name))
		}
	}
	return errors.Join(all...)
}

func (c *comparison) differLists(path string, want, got []any) error {
	if len(want) != len(got) {
		return fmt.Errorf("%s: want %d items, got %d", path, len(want), len(got))
	}
	var all []error
	for i := range want {
		all = append(all, c.differ(fmt.Sprintf("%s[%d]", path, i), want[i], got[i]))
	}
	return errors.Join(all...)
}

func (c *comparison) differTexts(path, want, got string) error {
	switch {
	case want == got || c.mayDiffer(path):
		return nil
	case hexHash.MatchString(want) && hexHash.MatchString(got), subscriptionID.MatchString(want) && subscriptionID.MatchString(got),
		isToken(want) && isToken(got), isContract(want) && isContract(got):
		return wrapAt(path, c.names.relate(want, got))
	}
	return fmt.Errorf("%s: want %q, got %q", path, jsonrpc.Shortened(want), jsonrpc.Shortened(got))
}

func wrapAt(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

func isToken(s string) bool { _, err := core.ParseTokenID(s); return err == nil }

func isContract(s string) bool { a, err := core.ParseAddress(s); return err == nil && a.IsContract() }
