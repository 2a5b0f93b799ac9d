package rpc

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// transfer is a good order, changed.
func transfer(change map[string]any) map[string]any {
	order := map[string]any{
		"entropystoreFile": alice, "selfAddr": alice, "toAddr": bob, "tokenTypeId": core.VITE.String(), "passphrase": password, "amount": "1000",
	}
	for name, value := range change {
		order[name] = value
		if value == nil {
			delete(order, name)
		}
	}
	return order
}

func TestSendReachesTheChain(t *testing.T) {
	r := start(t, nil)
	r.recover()
	before, err := r.chain.LatestAccountBlock(t.Context(), parseAddress(t, alice))
	require.NoError(t, err)
	note := base64.StdEncoding.EncodeToString([]byte("a note"))
	a := call(t, r.overHTTP, "createTxWithPassphrase", transfer(map[string]any{"data": note, "difficulty": "1000"}))
	require.Nil(t, a.Error)
	h, err := core.ParseHash(strings.Trim(a.String(), `"`))
	require.NoError(t, err)
	b, err := r.chain.AccountBlockByHash(t.Context(), h)
	require.NoError(t, err)
	require.Equal(t, before.Height+1, b.Height)
	require.Equal(t, before.Hash, b.PreviousHash)
	require.Equal(t, parseAddress(t, bob), b.ToAddress)
	require.Equal(t, core.VITE, b.TokenID)
	require.Equal(t, "1000", b.Amount.Dec())
	require.Equal(t, "a note", string(b.Data))
	require.True(t, core.CheckPoW(core.PoWDataHash(b.Address, b.PreviousHash), b.Nonce, big.NewInt(1000)))
	require.False(t, r.wallet.Unlocked(alice), "sending does not unlock")
	require.Contains(t, seen.all(), h.String(), "what was sent is in the log")

	require.NoError(t, r.wallet.Unlock(t.Context(), alice, password))
	a = call(t, r.overHTTP, "createTransaction", map[string]any{
		"entropyFile": alice, "address": bob, "toAddress": alice, "tokenId": core.VITE.String(), "passphrase": password, "amount": "1",
	})
	require.Regexp(t, hexHash, a.String())
	require.True(t, r.wallet.Unlocked(alice), "nor lock")
}

func TestSendRefuses(t *testing.T) {
	r := start(t, nil)
	r.recover()
	zero := core.Address{}.String()
	for _, c := range []struct {
		change map[string]any
		want   string
	}{
		{map[string]any{"toAddr": nil}, "-32602 invalid argument 0: toAddr is required"},
		{map[string]any{"tokenTypeId": nil}, "-32602 invalid argument 0: tokenTypeId is required"},
		{map[string]any{"tokenTypeId": nil, "amount": "0"}, "-32602 invalid argument 0: tokenTypeId is required"},
		{map[string]any{"amount": nil}, "-32002 convert to big.Int failed"},
		{map[string]any{"amount": "0x10"}, "-32002 convert to big.Int failed"},
		{map[string]any{"amount": strings.Repeat("0", 201)}, "-32002 convert to big.Int failed"},
		{map[string]any{"amount": "-1"}, "-32002 pack send failed, amount out of bounds"},
		{map[string]any{"amount": new(big.Int).Lsh(big.NewInt(1), 256).String()}, "-32002 pack send failed, amount out of bounds"},
		{map[string]any{"amount": new(big.Int).Lsh(big.NewInt(1), 200).String()}, "-35001 insufficient balance for transfer"},
		{map[string]any{"difficulty": "x"}, "-32002 convert to big.Int failed"},
		{map[string]any{"difficulty": "0"}, "-32002 difficulty must be from 1 to 401749796600"},
		{map[string]any{"difficulty": "401749796601"}, "-32002 difficulty must be from 1 to 401749796600"},
		{map[string]any{"data": base64.StdEncoding.EncodeToString(make([]byte, maxData+1))}, "-32002 data must not be longer than 65536 bytes"},
		{map[string]any{"data": "%%%"}, "-32602 invalid argument 0: illegal base64 data at input byte 0"},
		{map[string]any{"tokenTypeId": "tti_82b16ac306f0d98bf9ccf7e7"}, "-32002 tokenId doesn’t exist"},
		{map[string]any{"tokenTypeId": core.TokenID{}.String()}, "-32002 pack send failed, tokenId can't be empty when amount have actual value"},
		{map[string]any{"selfAddr": nil}, "-32002 not found the given address in the crypto store file"},
		{map[string]any{"selfAddr": zero}, "-32002 not found the given address in the crypto store file"},
		{map[string]any{"selfAddr": carol}, "-32002 account address doesn't exist"},
		{map[string]any{"entropystoreFile": "none"}, "-32002 error given store not found "},
		{map[string]any{"passphrase": "wrong"}, "-34001 error decrypt store"},
	} {
		require.Equal(t, c.want, call(t, r.overIPC, "createTxWithPassphrase", transfer(c.change)).String(), "%v", c.change)
	}
	latest, err := r.chain.LatestAccountBlock(t.Context(), parseAddress(t, alice))
	require.NoError(t, err)
	require.Equal(t, uint64(1), latest.Height, "nothing was sent")
}

// TestSendersOfOneAccountTakeTurns: each block links to the previous one, so none is lost to a
// race.
func TestSendersOfOneAccountTakeTurns(t *testing.T) {
	r := start(t, nil)
	r.recover()
	r.serve(walletConfig(r.root), quotaLedger{r.chain})
	one, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "wallet_createTxWithPassphrase", "params": []any{transfer(nil)},
	})
	require.NoError(t, err)
	conn, err := net.Dial("unix", r.server.cfg.IPC)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, strings.Repeat(string(one), 12))
	require.NoError(t, err)
	answers := json.NewDecoder(conn)
	for range 12 {
		var a answer
		require.NoError(t, answers.Decode(&a))
		require.Regexp(t, hexHash, a.String())
	}
	latest, err := r.chain.LatestAccountBlock(t.Context(), parseAddress(t, alice))
	require.NoError(t, err)
	require.Equal(t, uint64(13), latest.Height)
}

// quotaLedger makes a snapshot block, and with it new quota, before each block.
type quotaLedger struct{ *chain }

func (l quotaLedger) Submit(ctx context.Context, b *core.AccountBlock) error {
	if _, err := l.node.Snapshot(); err != nil {
		return err
	}
	return l.chain.Submit(ctx, b)
}

// brokenLedger fails at a step.
type brokenLedger struct {
	*chain
	tip, token, submit error
}

func (l *brokenLedger) Tip(ctx context.Context, a core.Address) (uint64, core.Hash, bool, error) {
	if l.tip != nil {
		return 0, core.Hash{}, false, l.tip
	}
	return l.chain.Tip(ctx, a)
}

func (l *brokenLedger) HasToken(ctx context.Context, id core.TokenID) (bool, error) {
	if l.token != nil {
		return false, l.token
	}
	return l.chain.HasToken(ctx, id)
}

func (l *brokenLedger) Submit(ctx context.Context, b *core.AccountBlock) error {
	if l.submit != nil {
		return l.submit
	}
	return l.chain.Submit(ctx, b)
}

// TestSendWithoutAnAnswer: a block that may have arrived is reported with its hash, and the cause's
// text is not sent.
func TestSendWithoutAnAnswer(t *testing.T) {
	r := start(t, nil)
	r.recover()
	secretHost := errors.New("dial https://key@provider.example: no route")
	for _, c := range []struct {
		ledger ledger
		want   string
	}{
		{nil, "-32002 sending is not possible: no node of the exchange chain is configured"},
		{&brokenLedger{chain: r.chain, token: secretHost}, "-32002 asking for the token: the exchange chain's node does not answer"},
		{&brokenLedger{chain: r.chain, tip: secretHost}, "-32002 asking for the account: the exchange chain's node does not answer"},
		{&brokenLedger{chain: r.chain, tip: &Refusal{Code: -32000, Message: "server is shutting down"}}, "-32000 server is shutting down"},
		{&brokenLedger{chain: r.chain, submit: &Refusal{Code: -35002, Message: "out of quota"}}, "-35002 out of quota"},
		{&brokenLedger{chain: r.chain, submit: secretHost}, "-32002 the outcome is not known; look up block HASH before sending again"},
	} {
		r.serve(walletConfig(r.root), c.ledger)
		got := call(t, r.overIPC, "createTxWithPassphrase", transfer(nil)).String()
		for _, word := range strings.Fields(got) {
			if _, err := core.ParseHash(word); err == nil {
				got = strings.Replace(got, word, "HASH", 1)
			}
		}
		require.Equal(t, c.want, got)
	}
}

// TestShutdownEndsWork: a search for a nonce of hours ends with the server, and nothing is sent.
func TestShutdownEndsWork(t *testing.T) {
	r := start(t, nil)
	r.recover()
	asked := make(chan struct{})
	r.serve(walletConfig(r.root), &tellingLedger{chain: r.chain, asked: asked})
	done := make(chan string, 1)
	go func() {
		done <- r.overIPC(`{"jsonrpc":"2.0","id":1,"method":"wallet_createTxWithPassphrase","params":[{"entropystoreFile":"` + alice + `","selfAddr":"` +
			alice + `","toAddr":"` + bob + `","tokenTypeId":"` + core.VITE.String() + `","passphrase":"` + password + `","amount":"1","difficulty":"401749796600"}]}`)
	}()
	<-asked
	r.stop()
	if got := <-done; got != closed {
		require.Equal(t, "-32000 server is shutting down", parse(t, got).String())
	}
	latest, err := r.chain.LatestAccountBlock(t.Context(), parseAddress(t, alice))
	require.NoError(t, err)
	require.Equal(t, uint64(1), latest.Height)
}

type tellingLedger struct {
	*chain
	asked chan struct{}
}

func (l *tellingLedger) Tip(ctx context.Context, a core.Address) (uint64, core.Hash, bool, error) {
	close(l.asked)
	return l.chain.Tip(ctx, a)
}

func TestTurns(t *testing.T) {
	own := accountLocks{held: map[core.Address]*accountLock{}}
	a := parseAddress(t, alice)
	done, err := own.acquire(t.Context(), a)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = own.acquire(ctx, a)
	require.ErrorIs(t, err, context.Canceled)
	other, err := own.acquire(t.Context(), parseAddress(t, bob))
	require.NoError(t, err, "another account does not wait")
	other()
	done()
	require.Empty(t, own.held)
}
