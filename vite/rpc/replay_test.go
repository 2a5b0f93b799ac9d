package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/node"
)

// line is one recorded exchange with a real node, or (event) a message that it sent unasked.
type line struct {
	Label     string          `json:"label"`
	Transport string          `json:"transport"`
	Request   json.RawMessage `json:"request"`
	Response  json.RawMessage `json:"response"`
	Event     json.RawMessage `json:"event"`
	number    int
}

func recording(t testing.TB, name string) []line {
	f, err := os.Open("testdata/" + name + ".jsonl")
	require.NoError(t, err)
	defer f.Close()
	var all []line
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		l := line{number: len(all) + 1}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &l))
		all = append(all, l)
	}
	require.NoError(t, lines.Err())
	return all
}

// differences reads the list in testdata/differences.txt of the recorded answers that ours differ
// from.
func differences(t testing.TB, name string) map[string]bool {
	doc, err := os.ReadFile("testdata/differences.txt")
	require.NoError(t, err)
	listed := make(map[string]bool)
	for _, m := range regexp.MustCompile("(?m)^- `"+name+"`: `([^`]+)`").FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = true
	}
	return listed
}

// verdicts collects, per label, whether our answer differed, and holds that against the list of
// differences: what is not listed must be equal, and what is listed must be a recorded label that
// does differ.
type verdicts struct {
	t      *testing.T
	listed map[string]bool
	seen   map[string]bool
}

func judge(t *testing.T, name string) *verdicts {
	return &verdicts{t, differences(t, name), make(map[string]bool)}
}

func (v *verdicts) add(l line, difference error) {
	v.seen[l.Label] = v.seen[l.Label] || difference != nil
	if !v.listed[l.Label] && difference != nil {
		v.t.Errorf("line %d, %s: %v", l.number, l.Label, difference)
	}
}

func (v *verdicts) finish() {
	for label := range v.listed {
		differs, replayed := v.seen[label]
		require.True(v.t, replayed, "testdata/differences.txt lists %q, which is no recorded label", label)
		require.True(v.t, differs, "testdata/differences.txt lists %q, which does not differ any more", label)
	}
}

// call is a JSON-RPC request or answer.
type call struct {
	Method string `json:"method,omitempty"`
	Params any    `json:"params,omitempty"`
	Result any    `json:"result,omitempty"`
	Error  any    `json:"error,omitempty"`
}

func parse(t testing.TB, raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // amounts and seeds exceed what a float holds
	require.NoError(t, d.Decode(&v), string(raw))
	return v
}

func parseCall(t testing.TB, raw []byte) call {
	var c call
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	require.NoError(t, d.Decode(&c), string(raw))
	return c
}

// replay plays recorded requests to our node.
type replay struct {
	*fixture
	names    *binding
	accepted map[core.Address]map[uint64]map[string]any // blocks in recorded answers, by account and height
	first    map[string]uint64                          // first snapshot height of recorded blocks
}

func newReplay(f *fixture, recordings ...[]line) *replay {
	r := &replay{fixture: f, names: newBinding(), accepted: make(map[core.Address]map[uint64]map[string]any), first: make(map[string]uint64)}
	for _, lines := range recordings {
		for _, l := range lines {
			if len(l.Response) > 0 {
				eachBlock(parse(f.t, l.Response), r.remember)
			}
		}
	}
	return r
}

func (r *replay) remember(b map[string]any) {
	account, height := address(first(b, "address")), number(b["height"])
	if r.accepted[account] == nil {
		r.accepted[account] = make(map[uint64]map[string]any)
	}
	r.accepted[account][height] = b
	if at := number(b["firstSnapshotHeight"]); at > 0 {
		r.first[first(b, "hash")] = at
	}
}

// eachBlock finds the account blocks in an answer.
func eachBlock(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["blockType"]; ok {
			f(v)
		}
		for _, member := range v {
			eachBlock(member, f)
		}
	case []any:
		for _, item := range v {
			eachBlock(item, f)
		}
	}
}

// prepare brings our chain to where the recorded one was: blocks that the recording only shows, and
// time.
func (r *replay) prepare(c call, answer call) {
	eachBlock(answer.Result, func(b map[string]any) {
		if a := address(first(b, "address")); !a.IsContract() {
			r.fill(a, number(b["height"])+1)
		}
	})
	eachBlock(answer.Result, func(b map[string]any) {
		if at := number(b["firstSnapshotHeight"]); at > 0 {
			r.advance(at + number(b["confirmations"]) - 1)
		}
	})
	eachBlock(answer.Result, r.learnReceive)
	switch c.Method {
	case "ledger_getSnapshotChainHeight":
		r.advance(number(answer.Result))
	case "net_syncInfo":
		r.advance(number(answer.Result.(map[string]any)["current"]))
	}
}

// learnReceive relates a contract's receive block, which the recording never names before it is
// asked for, by its send.
func (r *replay) learnReceive(b map[string]any) {
	send, err := core.ParseHash(r.names.ours[first(b, "sendBlockHash")])
	if err != nil || !address(first(b, "address")).IsContract() {
		return
	}
	if ours := read(r.node, func(v *node.View) *node.Block { return v.BlockByHash(send) }); ours != nil && ours.Received != nil {
		require.NoError(r.t, r.names.relate(first(b, "hash"), ours.Received.Hash.String()))
	}
}

// fill makes the recorded blocks of an account until its next height is the given one; a payment to
// itself replaces a block that was not recorded.
func (r *replay) fill(account core.Address, height uint64) {
	for {
		at, _ := r.next(account)
		if at >= height {
			return
		}
		b := &core.AccountBlock{BlockType: core.SendCall, Address: account, ToAddress: account, TokenID: core.VITE}
		b.Amount.SetUint64(1)
		recorded := r.accepted[account][at]
		if recorded != nil {
			b = lenient(recorded, r.names.translate(recorded).(map[string]any)).block
		}
		b.Height, b.PreviousHash = r.next(account)
		b.SignWith(r.signer(&oldBlock{block: b}))
		require.NoError(r.t, r.node.Submit(r.t.Context(), b), "height %d of %s", at, account)
		if recorded != nil {
			require.NoError(r.t, r.names.relate(first(recorded, "hash"), b.Hash.String()))
		}
	}
}

// request is a recorded request for our chain.
func (r *replay) request(c call, label string) call {
	list, ok := c.Params.([]any)
	if !ok {
		return c
	}
	if c.Method == "ledger_sendRawTransaction" && len(list) == 1 {
		if block, ok := list[0].(map[string]any); ok && len(block) > 0 {
			return call{Method: c.Method, Params: []any{r.resend(block, label)}}
		}
	}
	r.nameNewest(c.Method, list, label)
	return call{Method: c.Method, Params: r.names.translate(c.Params)}
}

// nameNewest relates hashes in a request whose blocks the recording does not show: the newest of
// the chain, and of the account a block that no other line names.
func (r *replay) nameNewest(method string, params []any, label string) {
	switch method {
	case "ledger_getConfirmedBalances":
		if recorded := params[0].(string); r.names.ours[recorded] == "" {
			require.NoError(r.t, r.names.relate(recorded, r.head().Hash.String()))
		}
	case "ledger_getPoWDifficulty", "tx_calcPoWDifficulty":
		intent := params[0].(map[string]any)
		recorded, account := first(intent, "previousHash", "prevHash"), address(first(intent, "address", "selfAddr"))
		if label == "PoW difficulty, stale previous hash" || r.names.ours[recorded] != "" {
			return
		}
		height, _ := r.next(account)
		r.fill(account, height+1)
		_, newest := r.next(account)
		require.NoError(r.t, r.names.relate(recorded, newest.String()))
	}
}

func (r *replay) resend(block map[string]any, label string) map[string]any {
	if at := r.first[first(block, "hash")]; at > 0 {
		r.advance(at - 1)
	}
	_, isText := block["height"].(string)
	if isText && !misplaced[label] {
		r.fill(address(first(block, "address", "accountAddress")), number(block["height"]))
	}
	return r.rebuild(block, label)
}

// post sends one request over HTTP and gives its answer.
func (f *fixture) post(c call) call {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": c.Method, "params": c.Params})
	require.NoError(f.t, err)
	resp, err := http.Post("http://"+f.server.HTTPAddr(), "application/json", bytes.NewReader(body))
	require.NoError(f.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(f.t, err)
	return parseCall(f.t, raw)
}

// play replays one request and returns the differences between our answer and the recorded one.
func (r *replay) play(l line, loose map[string]bool) error {
	asked, want := parseCall(r.t, l.Request), parseCall(r.t, l.Response)
	r.prepare(asked, want)
	mine := r.request(asked, l.Label)
	got := r.post(mine)
	if mine.Method == "ledger_sendRawTransaction" && want.Error == nil && got.Error == nil {
		theirs, ours := asked.Params.([]any)[0].(map[string]any), mine.Params.([]any)[0].(map[string]any)
		require.NoError(r.t, r.names.relate(strings.ToLower(first(theirs, "hash")), strings.ToLower(first(ours, "hash"))))
		if number(theirs["blockType"]) == uint64(core.SendCreate) {
			require.NoError(r.t, r.names.relate(first(theirs, "toAddress"), first(ours, "toAddress")))
		}
	}
	compare := &comparison{r.names, loose}
	if asked.Method == "ledger_getUnreceivedBlocksByAddress" {
		byHeight(want.Result)
		byHeight(got.Result)
	}
	return errors.Join(compare.differ("error", want.Error, got.Error), compare.differ("result", want.Result, got.Result))
}

// byHeight orders a list whose order depends on hashes.
func byHeight(v any) {
	list, _ := v.([]any)
	sort.SliceStable(list, func(i, j int) bool {
		return number(list[i].(map[string]any)["height"]) < number(list[j].(map[string]any)["height"])
	})
}
