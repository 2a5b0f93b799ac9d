package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// bookProgram is a program that keeps a book with one of the client libraries.
type bookProgram struct {
	t      *testing.T
	name   string
	in     io.Writer
	lines  *bufio.Scanner
	faults bytes.Buffer
}

// TestClientLibrariesKeepBooks: after random orders and cancels, and 20 connections, the books in
// clients/python and clients/ccxt equal REST's. GATEWAYD_TEST_BOOK_ORDERS is the number of orders;
// a full run has 10,000.
func TestClientLibrariesKeepBooks(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"node", "npm", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the clients need %s, which is not on this machine", program)
		}
	}
	orders := 400
	if text := os.Getenv("GATEWAYD_TEST_BOOK_ORDERS"); text != "" {
		var err error
		orders, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "index.db")
	buildExchange(t, dir, url)
	builder, _, apis := openExchanges(t, dir, url)
	modules := (&clientsEnv{root: root}).npm(t)
	copyFile(t, filepath.Join(root, "clients/ccxt/gatewayd.js"), filepath.Join(modules, "gatewayd.mjs"))
	programs := []*bookProgram{
		keepBook(t, apis[0].Base, "python3", "testdata/clients/book.py", filepath.Join(root, "clients/python")),
		keepBook(t, apis[0].Base, "node", "testdata/clients/book.mjs", "file://"+filepath.Join(modules, "gatewayd.mjs")),
	}
	const connections = 20
	chance, placed := rand.New(rand.NewPCG(3, 4)), []bookOrder(nil)
	for range connections {
		for _, p := range programs {
			p.waitForLine("ready")
		}
		for i := range orders / connections {
			if i%8 == 0 {
				builder.snapshot() // which gives quota
			}
			placed = builder.act(chance, placed)
		}
		builder.snapshot()
		for _, p := range programs {
			_, err := io.WriteString(p.in, "compare\n")
			require.NoError(t, err)
		}
		for _, p := range programs {
			require.NotEqual(t, "0", p.waitForLine("equal"), p.name)
		}
	}
}

type bookOrder struct {
	trader int
	id     core.Hash
}

// act places an order or cancels one, and is the orders that may rest.
func (b exchangeBuilder) act(chance *rand.Rand, placed []bookOrder) []bookOrder {
	if len(placed) > 0 && chance.IntN(4) == 0 {
		at := chance.IntN(len(placed))
		owner := exchangeKey(placed[at].trader)
		b.call(owner, dex.FundCancelBySendHash, placed[at].id, owner.Address(), exchangeTokens["COIN-000"], core.VITE)
		return slices.Delete(placed, at, at+1)
	}
	trader, sell := 1+chance.IntN(keyedTraders+plainTraders), chance.IntN(2) == 0
	cents := 1000 + chance.IntN(300)
	if sell {
		cents += 200
	}
	price := strconv.Itoa(cents/100) + "." + strconv.Itoa(100 + cents%100)[1:]
	return append(placed, bookOrder{trader, b.order(trader, sell, price, uint64(12+chance.IntN(50)))})
}

func keepBook(t *testing.T, api, program, script, library string) *bookProgram {
	given, err := json.Marshal(map[string]string{"api": api, "symbol": exchangeMarkets[0], "library": library})
	require.NoError(t, err)
	p := &bookProgram{t: t, name: script}
	command := exec.CommandContext(t.Context(), program, script, string(given))
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	command.Stderr = &p.faults
	p.in, err = command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	p.lines = bufio.NewScanner(out)
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Wait() }) // its context has ended it
	return p
}

// waitForLine waits for a line that begins with a word and returns its rest.
func (p *bookProgram) waitForLine(word string) string {
	p.t.Helper()
	require.True(p.t, p.lines.Scan(), "%s: %s", p.name, &p.faults)
	said, rest, _ := strings.Cut(p.lines.Text(), " ")
	require.Equal(p.t, word, said, "%s: %s", p.name, &p.faults)
	return rest
}
