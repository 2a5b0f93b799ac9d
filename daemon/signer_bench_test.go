package daemon

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/budget"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/policy"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/cause"
	"gatewayd/signer/remote"
)

// signing is a signer with a fresh sign-guard in front of payouts that real transfers order, a
// group of them at once.
type signing struct {
	b         *testing.B
	eth, vite *chaintest.Chain
	claims    []chain.Claim
	orders    []chain.Order
}

func newSigning(b *testing.B) *signing {
	s := &signing{b: b, eth: chaintest.New(chaintest.Config{ID: "eth"}), vite: chaintest.New(chaintest.Config{ID: "vite", Linked: true})}
	hot, gateway := s.eth.Address("hot"), s.vite.Address("gateway")
	s.eth.Own(hot)
	s.vite.Own(gateway)
	s.eth.Endow(hot, chain.Native, chain.NewAmount(1<<60))
	s.eth.Mine(1)
	s.vite.Mine(1)
	for i := range signer.MaxOrders {
		user, payee := s.vite.Address(fmt.Sprint("user ", i)), s.eth.Address(fmt.Sprint("payee ", i))
		hash := s.vite.Deposit(user, gateway, "tti", chain.NewAmount(1000), chain.Memo{Address: payee})
		if i%16 == 0 {
			s.vite.Mine(1)
		}
		pay := chain.Payment{ID: uint64(i + 1), Purpose: chain.Credit, Asset: chain.Native, To: payee, Amount: chain.NewAmount(900)}
		s.claims = append(s.claims, chain.Claim{
			Account: hot, Payment: pay, Cause: chain.Cause{Network: "main", Token: "tti", User: user, Chain: "vite", Ref: hash, Sender: user},
		})
		slot := chain.Slot{Account: hot, Key: "hot", Nonce: uint64(i)}
		a, err := s.eth.Prepare(b.Context(), slot, pay, nil)
		require.NoError(b, err)
		s.orders = append(s.orders, chain.Order{Slot: slot, Payment: pay, Unsigned: a.Raw})
	}
	s.vite.Mine(1)
	for i, c := range s.claims {
		s.claims[i].Cause.Height, s.claims[i].Cause.Ref = s.find(c.Cause.Ref)
	}
	return s
}

// find returns the place of a transaction's transfer.
func (s *signing) find(tx string) (height uint64, ref string) {
	height, _, ok := s.vite.Find(tx)
	require.True(s.b, ok)
	block, err := s.vite.Block(s.b.Context(), height)
	require.NoError(s.b, err)
	for _, t := range block.Transfers {
		if t.Tx == tx {
			ref = t.Ref
		}
	}
	return height, ref
}

func (s *signing) guard() *signguard.Guard {
	g, err := signguard.Open(filepath.Join(s.b.TempDir(), "guard.db"))
	require.NoError(s.b, err)
	s.b.Cleanup(func() { require.NoError(s.b, g.Close()) })
	return g
}

// parts are a signer's; with proofs it reads the causes itself.
func (s *signing) parts(proofs bool) signer.Parts {
	guard := s.guard()
	p := signer.Parts{Keys: chaintest.NoKeys{}, Guard: guard, Rules: map[chain.ID]chain.Rules{"eth": s.eth.Rules()}}
	if !proofs {
		return p
	}
	network := policy.Network{
		Name: "main", Source: "eth", Exchange: "vite",
		Tokens: []policy.Token{{TokenID: "tti", Decimals: 2, Asset: chain.Native, AssetDecimals: 2, Policy: policy.Policy{Fee: policy.Fee{Kind: "flat", Amount: chain.NewAmount(100)}}}},
	}
	_, err := guard.Watched(s.b.Context(), "vite", func() (uint64, error) { return 0, nil })
	require.NoError(s.b, err)
	p.Ledgers = map[chain.ID]signer.Ledger{"eth": s.eth, "vite": s.vite}
	p.Checks = []signer.Check{cause.New(cause.Parts{
		Chains: map[chain.ID]cause.Reader{"eth": s.eth, "vite": s.vite}, Networks: func() []policy.Network { return []policy.Network{network} }, Bindings: guard,
		Accounts: []cause.Account{
			{Chain: "eth", Address: s.eth.Address("hot"), Network: "main", Kind: cause.Hot, Shared: true},
			{Chain: "vite", Address: s.vite.Address("gateway"), Network: "main", Kind: cause.Gateway},
		},
	})}
	return p
}

// round has a group authorized and signed.
func (s *signing) round(by interface {
	Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) ([]chain.Verdict, error)
	Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error)
}) budget.Cost {
	return budget.Measure(len(s.orders), func() {
		verdicts, err := by.Authorize(s.b.Context(), "eth", s.claims...)
		require.NoError(s.b, err)
		for _, v := range verdicts {
			require.Equal(s.b, chain.Authorized, v.State, v.Text)
		}
		signed, err := by.Sign(s.b.Context(), "eth", s.orders...)
		require.NoError(s.b, err)
		require.Len(s.b, signed, len(s.orders))
	})
}

// BenchmarkSignerBudget compares two ways: authorization and signature through a socket, with the
// causes proven, and the same in one process without proofs. The CPU time of both processes is at
// most 3 ms a payment more.
func BenchmarkSignerBudget(b *testing.B) {
	s := newSigning(b)
	apart := func() budget.Cost {
		dir, err := os.MkdirTemp("", "s") // the name of a socket is short
		require.NoError(b, err)
		defer func() { require.NoError(b, os.RemoveAll(dir)) }()
		server, err := remote.NewServer(remote.Config{Listen: "unix:" + dir + "/s"}, signer.New(s.parts(true)), quietLog())
		require.NoError(b, err)
		require.NoError(b, server.Listen())
		ctx, stop := context.WithCancel(b.Context())
		done := make(chan error, 1)
		go func() { done <- server.Run(ctx) }()
		client, err := remote.Dial(remote.Target{URL: "unix:" + dir + "/s"})
		require.NoError(b, err)
		cost := s.round(client)
		require.NoError(b, client.Close())
		stop()
		require.NoError(b, <-done)
		return cost
	}
	var with, without budget.Cost
	for range b.N {
		with.Add(apart())
		without.Add(s.round(signer.New(s.parts(false))))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(with.PerCPU()/float64(time.Millisecond), "ms/payment")
	b.ReportMetric((with.PerCPU()-without.PerCPU())/float64(time.Millisecond), "ms-more/payment")
	b.ReportMetric(3, "budget")
}

func quietLog() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}
