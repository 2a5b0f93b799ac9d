package remote_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/checks"
	"gatewayd/signer/remote"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// service is everything that a daemon and its operators ask of a signer.
type service interface {
	Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error)
	Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) ([]chain.Verdict, error)
	Report(ctx context.Context) (checks.Report, error)
	Free(ctx context.Context, paymentID uint64) error
	Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error)
	First(ctx context.Context, id chain.ID, account string) (number uint64, ok bool, err error)
	SignedAt(ctx context.Context, id chain.ID, account string, number uint64) ([]signguard.Signed, error)
	Anchors(ctx context.Context, id chain.ID, coins ...string) ([]signguard.Anchor, error)
	Release(ctx context.Context, id chain.ID, account string, next uint64) error
	GiveAddress(ctx context.Context, b signguard.Binding) (address string, err error)
	GiveLabel(ctx context.Context, b signguard.Binding) error
	ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error
	Accounts(ctx context.Context, id chain.ID, paths ...string) ([]string, error)
	DepositKey(ctx context.Context, id chain.ID) (signer.DepositKey, error)
	Identity(ctx context.Context) (signguard.Identity, error)
	Agent(ctx context.Context, network string, owner core.Address) (core.Address, error)
	SignAgent(ctx context.Context, network string, owner core.Address, block []byte) (public, signature []byte, err error)
}

var _, _ service = (*signer.Signer)(nil), (*remote.Client)(nil)

// testKeys has a key for each path and makes the addresses of ledgers in memory.
type testKeys struct{ *chaintest.Chain }

func keyAt(path string) core.PrivateKey {
	seed := sha256.Sum256([]byte(path))
	k, err := core.NewPrivateKey(seed[:])
	if err != nil {
		panic(err)
	}
	return k
}

func (testKeys) Sign(_ context.Context, path string, digest []byte) (public, signature []byte, err error) {
	k := keyAt(path)
	of := k.Public()
	return of[:], k.Sign(digest), nil
}

func (p testKeys) Account(_ chain.ID, path string) (string, error) {
	if path == "" {
		return "", errors.New("no path")
	}
	return p.Address(path), nil
}

func (testKeys) Deposit(_ chain.ID, index uint32) (string, error) {
	return fmt.Sprint("deposit ", index), nil
}

func (testKeys) DepositKey(id chain.ID) (signer.DepositKey, error) {
	if id != "eth" {
		return signer.DepositKey{}, errors.New("there is no such chain")
	}
	return signer.DepositKey{Public: []byte{2}, Chain: []byte{3}}, nil
}

func (testKeys) Agent(path string) (core.Address, error) { return keyAt(path).Address(), nil }

// env is a signer with a real sign-guard for two ledgers in memory, and a way to ask it.
type env struct {
	service
	t         *testing.T
	signer    *signer.Signer
	eth, vite *chaintest.Chain
}

func setup(t *testing.T) *env {
	t.Helper()
	w := &env{t: t, eth: chaintest.New(chaintest.Config{ID: "eth"}), vite: chaintest.New(chaintest.Config{ID: "vite", Linked: true})}
	guard, err := signguard.Open(filepath.Join(t.TempDir(), "guard.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, guard.Close()) })
	for _, c := range []*chaintest.Chain{w.eth, w.vite} {
		c.Endow(c.Address("hot"), chain.Native, chain.NewAmount(1_000_000))
	}
	w.signer = signer.New(signer.Parts{Keys: testKeys{w.eth}, Guard: guard, Rules: map[chain.ID]chain.Rules{"eth": w.eth.Rules(), "vite": w.vite.Rules()}})
	w.service = w.signer
	return w
}

// serve has the signer asked at a server of a configuration. It answers where that is, and what
// ends it.
func (w *env) serve(cfg remote.Config, target func(address string) remote.Target) (stop func()) {
	w.t.Helper()
	require.NoError(w.t, cfg.Check())
	log := logrus.New()
	log.SetOutput(w.t.Output())
	server, err := remote.NewServer(cfg, w.signer, log)
	require.NoError(w.t, err)
	require.NoError(w.t, server.Listen())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1) // one answer
	go func() { ended <- server.Run(ctx) }()
	at := target(server.HTTPAddr())
	require.NoError(w.t, at.Check())
	client, err := remote.Dial(at)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, client.Close()) })
	w.service = client
	done := false
	stop = func() {
		if !done {
			cancel()
			require.NoError(w.t, <-ended)
			done = true
		}
	}
	w.t.Cleanup(stop)
	return stop
}

// order is a payment as the adapter of the first ledger prepares it.
func (w *env) order(number, id uint64, to string, amount uint64) chain.Order {
	w.t.Helper()
	pay := chain.Payment{ID: id, Purpose: chain.Credit, Asset: chain.Native, To: w.eth.Address(to), Amount: chain.NewAmount(amount), MaxFee: chain.NewAmount(1 << 62)}
	slot := chain.Slot{Account: w.eth.Address("hot"), Key: "hot", Nonce: number}
	a, err := w.eth.Prepare(w.t.Context(), slot, pay, nil)
	require.NoError(w.t, err)
	return chain.Order{Slot: slot, Payment: pay, Unsigned: a.Raw}
}

// sign claims the orders' payments for a transfer each, whatever the verdicts are, and has them
// signed.
func (w *env) sign(orders ...chain.Order) ([]chain.SignedTx, error) {
	w.t.Helper()
	claims := make([]chain.Claim, len(orders))
	for i, o := range orders {
		claims[i] = claimOf(o)
	}
	_, err := w.Authorize(w.t.Context(), "eth", claims...)
	require.NoError(w.t, err)
	return w.Sign(w.t.Context(), "eth", orders...)
}

func claimOf(o chain.Order) chain.Claim {
	return chain.Claim{Account: o.Slot.Account, Payment: o.Payment, Cause: chain.Cause{Chain: "vite", Height: 1, Ref: fmt.Sprint("transfer ", o.Payment.ID)}}
}

// ways are those in which a daemon asks its signer.
var ways = map[string]func(t *testing.T) *env{
	"in process": setup,
	"unix": func(t *testing.T) *env {
		w := setup(t)
		socket := "unix:" + filepath.Join(shortDir(t), "s")
		w.serve(remote.Config{Listen: socket, Mode: "0660"}, func(string) remote.Target { return remote.Target{URL: socket} })
		return w
	},
	"https": func(t *testing.T) *env {
		w := setup(t)
		ca := newAuthority(t, "ca")
		w.serve(remote.Config{Listen: "https://127.0.0.1:0", TLS: ca.files("server")},
			func(address string) remote.Target {
				return remote.Target{URL: "https://" + address, TLS: ca.files("client")}
			})
		return w
	},
}

// TestConformance: whoever asks, in whatever way, gets the same answers and errors that can be told
// apart.
func TestConformance(t *testing.T) {
	for way, open := range ways {
		t.Run(way, func(t *testing.T) {
			for _, part := range []struct {
				name string
				test func(*env)
			}{
				{"authorizations", (*env).testAuthorizations}, {"payments", (*env).testPayments}, {"groups", (*env).testGroups}, {"guard", (*env).testGuard},
				{"accounts", (*env).testAccounts}, {"delegation", (*env).testDelegation},
			} {
				t.Run(part.name, func(t *testing.T) { part.test(open(t)) })
			}
		})
	}
}

// testAuthorizations: what nobody has authorized is not signed, and verdicts come in order.
func (w *env) testAuthorizations() {
	t, ctx := w.t, w.t.Context()
	first, second := w.order(0, 1, "payee", 5), w.order(1, 2, "payee", 5)
	_, err := w.Sign(ctx, "eth", first)
	require.ErrorIs(t, err, signguard.ErrUnauthorized)
	bad := claimOf(second)
	bad.Cause.Ref = ""
	verdicts, err := w.Authorize(ctx, "eth", claimOf(first), bad)
	require.NoError(t, err)
	require.Equal(t, chain.Verdict{State: chain.Authorized}, verdicts[0])
	require.Equal(t, chain.RefusedClaim, verdicts[1].State)
	require.Equal(t, chain.ReasonRefused, verdicts[1].Reason)
	require.NotEmpty(t, verdicts[1].Text)
	_, err = w.Sign(ctx, "eth", first)
	require.NoError(t, err)
	_, err = w.Authorize(ctx, "bsc", claimOf(first))
	require.ErrorIs(t, err, signer.ErrRefused)
	_, err = w.Authorize(ctx, "eth", make([]chain.Claim, signer.MaxOrders+1)...)
	require.ErrorIs(t, err, signer.ErrRefused)
}

func (w *env) testPayments() {
	t, ctx := w.t, w.t.Context()
	first := w.order(0, 1, "payee", 5)
	signed, err := w.sign(first)
	require.NoError(t, err)
	require.NoError(t, chaintest.Send(ctx, w.eth, chain.Attempt{Hash: signed[0].Hash, Raw: signed[0].Raw}))
	again, err := w.sign(first)
	require.NoError(t, err)
	require.Equal(t, signed, again)

	_, err = w.sign(w.order(0, 1, "thief", 5))
	require.ErrorIs(t, err, signguard.ErrRefused)
	require.NotErrorIs(t, err, signer.ErrRefused)
	altered := w.order(1, 2, "payee", 5)
	altered.Payment.Amount = chain.NewAmount(6)
	_, err = w.Sign(ctx, "eth", altered)
	require.ErrorIs(t, err, signer.ErrRefused)
	require.ErrorContains(t, err, "the signer refuses payment 2 at 1 of "+w.eth.Address("hot"))
	require.NotErrorIs(t, err, signguard.ErrRefused)
	_, err = w.Sign(ctx, "bsc", first)
	require.ErrorIs(t, err, signer.ErrRefused)
	none, err := w.sign()
	require.NoError(t, err)
	require.Empty(t, none)
}

// testGroups: as many as there may be at once pass; what is refused stops only itself and what
// follows.
func (w *env) testGroups() {
	t, ctx := w.t, w.t.Context()
	group := make([]chain.Order, signer.MaxOrders)
	for i := range group {
		group[i] = w.order(uint64(i), uint64(i)+1, "payee", 5)
	}
	signed, err := w.sign(group...)
	require.NoError(t, err)
	require.Len(t, signed, signer.MaxOrders)
	_, err = w.Sign(ctx, "eth", append(group, group[0])...)
	require.ErrorIs(t, err, signer.ErrRefused)
	group[3].Payment.Amount = chain.NewAmount(6)
	signed, err = w.Sign(ctx, "eth", group...)
	require.ErrorIs(t, err, signer.ErrRefused)
	require.Len(t, signed, 3)
}

func (w *env) testGuard() {
	t, ctx, hot := w.t, w.t.Context(), w.eth.Address("hot")
	_, _, known, err := w.Next(ctx, "eth", hot)
	require.NoError(t, err)
	require.False(t, known)
	_, known, err = w.First(ctx, "eth", hot)
	require.NoError(t, err)
	require.False(t, known)
	before, err := w.Identity(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, before.ID)

	_, err = w.sign(w.order(4, 1, "payee", 5), w.order(5, 2, "payee", 5))
	require.NoError(t, err)
	branch, next, known, err := w.Next(ctx, "eth", hot)
	require.NoError(t, err)
	require.Equal(t, []any{uint64(0), uint64(6), true}, []any{branch, next, known})
	first, known, err := w.First(ctx, "eth", hot)
	require.NoError(t, err)
	require.Equal(t, []any{uint64(4), true}, []any{first, known})

	at, err := w.SignedAt(ctx, "eth", hot, 5)
	require.NoError(t, err)
	require.Equal(t, []signguard.Signed{{Digest: signer.Fingerprint(w.order(5, 2, "payee", 5).Payment), PaymentID: 2, Cause: "transfer|vite|transfer 2", Live: true}}, at)
	at, err = w.SignedAt(ctx, "eth", hot, 6)
	require.NoError(t, err)
	require.Empty(t, at)

	_, err = w.sign(w.order(6, 1, "payee", 5))
	require.ErrorIs(t, err, signguard.ErrRefused, "the payment has a slot")
	require.NoError(t, w.Free(ctx, 1))
	_, err = w.sign(w.order(6, 1, "payee", 5))
	require.NoError(t, err)
	require.NoError(t, w.Release(ctx, "eth", hot, 6))
	_, err = w.sign(w.order(7, 2, "payee", 5))
	require.NoError(t, err, "number 5 is used up")

	given := signguard.Binding{Network: "main", Chain: "eth", Index: 7, Address: w.eth.Address("deposit 7"), User: "alice"}
	address, err := w.GiveAddress(ctx, given)
	require.NoError(t, err)
	require.Equal(t, w.eth.Address("deposit 7"), address)
	_, err = w.GiveAddress(ctx, given)
	require.ErrorIs(t, err, chain.ErrTaken)
	given.Index, given.Address = 8, w.eth.Address("thief")
	_, err = w.GiveAddress(ctx, given)
	require.ErrorIs(t, err, signer.ErrRefused)
	label := signguard.Binding{Network: "main", Chain: "eth", Label: "ABCD2345", User: "alice"}
	require.NoError(t, w.GiveLabel(ctx, label))
	label.User = "eve"
	require.ErrorIs(t, w.GiveLabel(ctx, label), chain.ErrTaken)
	require.NoError(t, w.ReadOutcomes(ctx, "eth", 1), "it has no nodes of its own")
	after, err := w.Identity(ctx)
	require.NoError(t, err)
	require.Equal(t, before.ID, after.ID)
	require.Greater(t, after.Commits, before.Commits)
}

func (w *env) testAccounts() {
	t, ctx := w.t, w.t.Context()
	list, err := w.Accounts(ctx, "eth", "hot", "gas")
	require.NoError(t, err)
	require.Equal(t, []string{w.eth.Address("hot"), w.eth.Address("gas")}, list)
	_, err = w.Accounts(ctx, "eth", "hot", "")
	require.ErrorIs(t, err, signer.ErrRefused)
	_, err = w.Accounts(ctx, "eth", make([]string, signer.MaxPaths+1)...)
	require.ErrorIs(t, err, signer.ErrRefused)
	key, err := w.DepositKey(ctx, "eth")
	require.NoError(t, err)
	require.Equal(t, signer.DepositKey{Public: []byte{2}, Chain: []byte{3}}, key)
	_, err = w.DepositKey(ctx, "vite")
	require.ErrorIs(t, err, signer.ErrRefused)
}

// testDelegation: a delegation address signs orders of its account, cancellations and receives, and
// nothing else.
func (w *env) testDelegation() {
	t, ctx := w.t, w.t.Context()
	owner, thief := keyAt("owner").Address(), keyAt("thief").Address()
	agent, err := w.Agent(ctx, "main", owner)
	require.NoError(t, err)
	require.Equal(t, keyAt(signer.DelegationPath("main", owner)).Address(), agent)
	other, err := w.Agent(ctx, "test", owner)
	require.NoError(t, err)
	require.NotEqual(t, agent, other)

	sign := func(b core.AccountBlock) error {
		b.Height, b.PreviousHash = 2, core.Hash{9}
		b.Hash = b.ComputeHash()
		b.PublicKey, b.Signature = make([]byte, core.PublicKeySize), make([]byte, core.SignatureSize)
		text, err := core.EncodeBlock(&b)
		require.NoError(t, err)
		public, signature, err := w.SignAgent(ctx, "main", owner, text)
		if err == nil {
			require.Equal(t, agent, core.UserAddress(core.PublicKey(public)))
			require.True(t, core.Verify(public, b.Hash[:], signature))
		}
		return err
	}
	for name, c := range delegated(t, agent, owner, thief) {
		err := sign(c.block)
		if c.fault == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, signer.ErrRefused, name)
		require.ErrorContains(t, err, c.fault, name)
	}
	_, _, err = w.SignAgent(ctx, "main", owner, []byte("{"))
	require.ErrorIs(t, err, signer.ErrRefused)
}

type delegatedCase struct {
	block core.AccountBlock
	fault string // empty: it is signed
}

func delegated(t *testing.T, agent, owner, thief core.Address) map[string]delegatedCase {
	pack := func(m core.Method, values ...any) []byte {
		data, err := m.Pack(values...)
		require.NoError(t, err)
		return data
	}
	call := func(change func(*core.AccountBlock)) core.AccountBlock {
		b := core.AccountBlock{BlockType: core.SendCall, Address: agent, ToAddress: core.DexFundContract, TokenID: core.VITE}
		b.Data = pack(dex.FundPlaceAgentOrder, owner, core.VITE, core.TokenID{1}, true, uint8(0), "1.5", amount(7))
		change(&b)
		return b
	}
	token := core.TokenID{5}
	return map[string]delegatedCase{
		"an order": {call(func(*core.AccountBlock) {}), ""},
		"a cancellation": {call(func(b *core.AccountBlock) {
			b.Data = pack(dex.FundCancelBySendHash, core.Hash{3}, owner, core.VITE, core.TokenID{1})
		}), ""},
		"a receive":        {core.AccountBlock{BlockType: core.Receive, Address: agent, SendBlockHash: core.Hash{1}}, ""},
		"a transfer":       {core.AccountBlock{BlockType: core.SendCall, Address: agent, ToAddress: thief, TokenID: core.VITE, Amount: amount(5)}, "to: "},
		"a comment":        {core.AccountBlock{BlockType: core.SendCall, Address: agent, ToAddress: thief, TokenID: core.VITE}, "to: "},
		"an amount":        {call(func(b *core.AccountBlock) { b.Amount = amount(1) }), "amount: 1"},
		"another token":    {call(func(b *core.AccountBlock) { b.TokenID = token }), "token: "},
		"a fee":            {call(func(b *core.AccountBlock) { b.Fee = amount(1) }), "fee: 1"},
		"another contract": {call(func(b *core.AccountBlock) { b.ToAddress = core.AssetContract }), "to: "},
		"another's order": {call(func(b *core.AccountBlock) {
			b.Data = pack(dex.FundPlaceAgentOrder, thief, core.VITE, token, true, uint8(0), "1", amount(7))
		}), "an order of"},
		"another's cancel": {call(func(b *core.AccountBlock) {
			b.Data = pack(dex.FundCancelBySendHash, core.Hash{3}, thief, core.VITE, token)
		}), "an order of"},
		"a withdrawal": {call(func(b *core.AccountBlock) { b.Data = pack(dex.FundWithdraw, token, amount(7)) }), "neither an order nor a cancellation"},
		"a grant": {call(func(b *core.AccountBlock) {
			b.Data = pack(dex.FundConfigAgents, uint8(1), thief, []core.TokenID{token}, []core.TokenID{core.VITE})
		}), "neither"},
		"no data":   {call(func(b *core.AccountBlock) { b.Data = nil }), "neither"},
		"more data": {call(func(b *core.AccountBlock) { b.Data = append(b.Data, 0) }), "data: "},
		"written otherwise": {call(func(b *core.AccountBlock) {
			const price, heads = 4 + 6*32 - 1, 4 + 7*32 // the last byte of where the price stands, and the end of the arguments
			b.Data[price-1], b.Data[price] = 1, 0       // 32 further than 7*32
			b.Data = slices.Insert(b.Data, heads, make([]byte, 32)...)
		}), "not in canonical form"},
		"another account":   {call(func(b *core.AccountBlock) { b.Address = thief }), "account: "},
		"a new contract":    {call(func(b *core.AccountBlock) { b.BlockType = core.SendCreate }), "type: 1"},
		"receive with data": {core.AccountBlock{BlockType: core.Receive, Address: agent, SendBlockHash: core.Hash{1}, Data: []byte{1}}, "data: "},
	}
}
