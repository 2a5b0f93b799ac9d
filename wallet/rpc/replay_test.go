package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// line is one recorded exchange with a real node.
type line struct {
	Label    string          `json:"label"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
}

func recording(t testing.TB) (all []line) {
	f, err := os.Open("testdata/wallet.jsonl")
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l line
		require.NoError(t, json.Unmarshal(lines.Bytes(), &l))
		all = append(all, l)
	}
	require.NoError(t, lines.Err())
	return all
}

// differences reads the labels of the recorded answers that ours differ from.
func differences(t testing.TB) map[string]bool {
	doc, err := os.ReadFile("testdata/differences.txt")
	require.NoError(t, err)
	listed := make(map[string]bool)
	for _, m := range regexp.MustCompile("(?m)^- `wallet`: `([^`]+)`").FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = true
	}
	return listed
}

// Properties of the recorded node: its file paths, the secrets that it drew, and the store that it
// wrote for words with two blanks between them, whose address belongs to no words. Ours is the
// address of the words.
const (
	recordedRoot     = "/var/lib/node"
	recordedMnemonic = "exist two actor blame group trash nuclear one three deputy pass drift marine spy velvet siege leisure shove index soda derive stone wolf run"
	laterMnemonic    = "walnut valley balance clump apology fault anchor quit photo process bike matrix sweet host robust critic damp cattle birth same shiver leaf stand seminar"
	wrongAddress     = "vite_9b2fdca9c043523adde2b2bc12ee84262d3533aa93e1bcaf48"
	rightAddress     = "vite_239460a47c4adeaae0554b4d5936690726c682069b0a91e67d"
	coinbase         = "conf/vite_3167c9421c8a4cb642d613082dfcef932e26063867f277ec0f"
)

// replay plays the recording to our wallet, each line over the next transport.
type replay struct {
	*rig
	cfg    wallet.Config
	before map[string]func() // what happened between two recorded calls, by the label of the second
}

func TestReplay(t *testing.T) {
	r := newReplay(t)
	listed, differed := differences(t), map[string]bool{}
	ways := []func(string) string{r.overHTTP, r.overWS, r.overIPC}
	all := recording(t)
	for i, l := range all {
		if step := r.before[l.Label]; step != nil {
			step()
			delete(r.before, l.Label)
		}
		r.chain.snapshot(t)
		want, got := r.play(l, ways[i%len(ways)])
		if want == got {
			continue
		}
		differed[l.Label] = true
		if !listed[l.Label] {
			t.Errorf("line %d, %s:\n got %s\nwant %s", i+1, l.Label, got, want)
		}
	}
	require.Empty(t, r.before, "steps for labels that are not recorded")
	for label := range listed {
		require.True(t, differed[label], "testdata/differences.txt lists %q, which does not differ", label)
	}
	require.Len(t, all, 156)
}

func newReplay(t *testing.T) *replay {
	r := &replay{rig: &rig{t: t, root: t.TempDir(), chain: startChain(t)}}
	writeFile(t, filepath.Join(r.root, coinbase), sealed(t, make([]byte, 32), "unknown"))
	r.cfg = walletConfig(r.root)
	r.cfg.Random = bytes.NewReader(append(secretOf(t, recordedMnemonic), secretOf(t, laterMnemonic)...))
	r.cfg.Stores = []string{filepath.Join(r.root, coinbase)}
	r.serve(r.cfg, r.chain)
	for _, w := range []string{recordedMnemonic, laterMnemonic, testMnemonic} {
		seen.secret(w, w)
	}
	file := func(name string) string { return filepath.Join(r.root, name) }
	light, err := os.ReadFile("testdata/store-light")
	require.NoError(t, err)
	unlock := func() { require.NoError(t, r.wallet.Unlock(t.Context(), alice, "new")) }
	r.before = map[string]func(){
		"add a store by absolute path": func() {
			writeFile(t, file("other/light"), light)
			writeFile(t, file("other/twelve"), light)
			writeFile(t, file("other/junk"), []byte("hello"))
			writeFile(t, file("other/empty"), nil)
			writeFile(t, file("other/v2"), bytes.Replace(light, []byte(`"seedstoreversion":1`), []byte(`"seedstoreversion":2`), 1))
			writeFile(t, file("wallet/my-own-name"), sealed(t, make([]byte, 24), "unknown"))
		},
		"   old password": func() { // the node had overwritten the store, ours refused to
			require.NoError(t, r.wallet.ChangePassword(t.Context(), alice, "pw", "new"))
		},
		"add a missing file": func() { // the node had not added it
			require.NoError(t, os.Remove(file("other/twelve")))
			require.NoError(t, r.wallet.Refresh())
		},
		"signData (unlocked)":                                                 unlock, // as the node's sending had left it
		"list addresses 0..200 (beyond the search limit)":                     unlock,
		"refreshCache after a file was deleted":                               func() { require.NoError(t, os.Remove(file("other/light"))) },
		"after a restart every store of the standard dir is known and locked": func() { r.serve(r.cfg, r.chain) },
	}
	return r
}

func sealed(t testing.TB, secret []byte, password string) []byte {
	s, err := keystore.Seal(secret, password, keystore.LightCost(), time.Unix(1, 0))
	require.NoError(t, err)
	return s.Encode()
}

func secretOf(t testing.TB, mnemonic string) []byte {
	secret, err := keystore.ParseMnemonic(mnemonic)
	require.NoError(t, err)
	return secret
}

// play gives the recorded answer and ours in one form.
func (r *replay) play(l line, send func(string) string) (want, got string) {
	request := strings.ReplaceAll(strings.ReplaceAll(string(l.Request), recordedRoot, r.root), wrongAddress, rightAddress)
	ours := parse(r.t, send(request))
	theirs := parse(r.t, strings.ReplaceAll(strings.ReplaceAll(string(l.Response), recordedRoot, r.root), wrongAddress, rightAddress))
	if strings.Contains(request, "EntropyFiles") || strings.Contains(request, "EntropyFilesInStandardDir") {
		sortList(r.t, &ours)
		sortList(r.t, &theirs)
	}
	return form(r.t, theirs), form(r.t, ours)
}

func sortList(t testing.TB, a *answer) {
	var list []string
	if a.Error != nil || json.Unmarshal(a.Result, &list) != nil {
		return
	}
	slices.Sort(list)
	sorted, err := json.Marshal(list)
	require.NoError(t, err)
	a.Result = sorted
}

var hexHash = regexp.MustCompile(`^"[0-9a-f]{64}"$`)

// form is an answer without what differs between two chains.
func form(t testing.TB, a answer) string {
	if a.Error != nil {
		return a.String()
	}
	if hexHash.Match(a.Result) {
		return "a hash"
	}
	var v any
	require.NoError(t, json.Unmarshal(a.Result, &v))
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
