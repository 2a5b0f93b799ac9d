package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// TestTwoThousandCalls makes them at once, 50 wrong passwords and 100 right ones among them. Each
// password check takes 32 MiB, so that together they would take almost 5 GiB if nothing bounded
// them.
func TestTwoThousandCalls(t *testing.T) {
	r := start(t, func(c *wallet.Config) {
		c.Cost = keystore.Cost{N: 1 << 15, R: 8, P: 1}
		c.Memory = 2 * c.Cost.Memory()
	})
	r.recover()
	_, err := r.wallet.Recover(t.Context(), recordedMnemonic, password)
	require.NoError(t, err)
	other := "vite_a63bb1ccb9dd038fa8e78a23a57a789701de21dba46c65dccf"
	require.NoError(t, r.wallet.Unlock(t.Context(), other, password))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	const callers, each = 125, 16 // so many calls of a connection are worked on at once
	calls := make([]bytes.Buffer, callers)
	for id := range callers * each {
		method, params := "deriveByIndex", fmt.Sprintf("[%q,%d]", other, id)
		switch {
		case id%40 == 0:
			method, params = "unlock", fmt.Sprintf("[%q,%q]", alice, "wrong")
		case id%20 == 1:
			method, params = "extractMnemonic", fmt.Sprintf("[%q,%q]", other, password)
		}
		fmt.Fprintf(&calls[id%callers], `{"jsonrpc":"2.0","id":%d,"method":"wallet_%s","params":%s}`, id, method, params)
	}
	answers := make(chan answer, callers*each) // all
	var group errgroup.Group
	for i := range calls {
		group.Go(func() error { return callAll(r.server.cfg.IPC, &calls[i], each, answers) })
	}
	require.NoError(t, group.Wait())
	close(answers)
	counts := map[string]int{}
	for a := range answers {
		if a.Error == nil {
			counts["done"]++
			continue
		}
		seen.note(a.Error.Message)
		counts[strings.TrimRight(a.String(), "0123456789 s")]++
	}
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapSys)-int64(before.HeapSys), int64(512<<20))
	require.GreaterOrEqual(t, counts["done"], 1850+1, "all derivations, and passwords that found a place")
	require.LessOrEqual(t, counts["-34001 error decrypt store"], 5, "of 50 wrong passwords few are even looked at")
	require.Positive(t, counts["-32005 too many wrong passwords: try again in"])
	require.Positive(t, counts["-32005 too many calls wait for a password to be checked"])
	total := 0
	for what, n := range counts {
		t.Log(n, what)
		total += n
	}
	require.Equal(t, 2000, total)
}

// TestStandardCost: a store of the node's own cost, as `gatewayd wallet new` makes it, through the
// complete wallet. Each of three checks takes a second and 256 MiB.
func TestStandardCost(t *testing.T) {
	r := start(t, func(c *wallet.Config) { c.Cost = keystore.Cost{} })
	r.recover()
	require.Equal(t, "null", call(t, r.overHTTP, "unlock", alice, password).String())
	file, err := keystore.ReadFile(filepath.Join(r.wallet.Dir(), alice))
	require.NoError(t, err)
	require.Equal(t, keystore.StandardCost(), file.Cost())
	left, err := os.ReadDir(r.wallet.Dir())
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// callAll makes calls over a connection and reads their answers.
func callAll(socket string, calls io.WriterTo, count int, answers chan<- answer) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := calls.WriteTo(conn); err != nil {
		return err
	}
	in := json.NewDecoder(conn)
	for range count {
		var a answer
		if err := in.Decode(&a); err != nil {
			return err
		}
		answers <- a
	}
	return nil
}
