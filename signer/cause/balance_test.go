package cause_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/cause"
)

// counted is a thief with a signer whose only check is the proof, at one deposit address of a user.
type counted struct {
	*thief
	came uint64            // what arrived at the address since it was given out, sent by strangers
	took map[string]uint64 // what was authorized for it, by cause
}

func newCounted(t *testing.T) *counted {
	t.Helper()
	c := &counted{thief: newThief(t), took: map[string]uint64{}}
	c.restart()
	return c
}

// restart makes signer and checker anew: they know what the sign-guard knows.
func (c *counted) restart() {
	parts := cause.Parts{
		Chains: map[chain.ID]cause.Reader{"eth": c.eth, "vite": c.vite}, Networks: c.networks, Bindings: c.guard, Coin: c.guard, Accounts: c.accounts,
	}
	c.checker = cause.New(parts)
	c.Signer = signer.New(signer.Parts{
		Keys: testKeys{c.eth}, Guard: c.guard, Rules: map[chain.ID]chain.Rules{"eth": c.eth.Rules(), "vite": c.vite.Rules()}, Checks: []signer.Check{c.checker},
		Ledgers: map[chain.ID]signer.Ledger{"eth": c.eth, "vite": c.vite}, Now: func() time.Time { return time.Unix(1_600_000_000, 0) }, // before all blocks
	})
}

// hide sends coin to the address in a way that no block shows, and returns its block, which is
// final.
func (c *counted) hide(units uint64) uint64 {
	c.t.Helper()
	hash := c.eth.Hide(c.address, amount(units))
	c.eth.Mine(1)
	height, _, ok := c.eth.Find(hash)
	require.True(c.t, ok)
	c.came += units
	c.mine()
	return height
}

// found is the claim for coin that the audit has found at the address.
func (c *counted) found(height, units uint64, change ...func(*chain.Claim)) chain.Claim {
	return c.altered(chain.Claim{
		Account: c.vite.Address("gateway"),
		Payment: chain.Payment{Purpose: chain.Credit, Asset: coin, To: c.user, Amount: amount(units)},
		Cause:   chain.Cause{Network: "main", Token: coin, User: c.user, Chain: "eth", Height: height, Ref: fmt.Sprintf("audit:%s:native:%d", c.address, height)},
	}, func(claim *chain.Claim) {
		for _, f := range change {
			f(claim)
		}
	})
}

// shown is the claim for a deposit that a block shows.
func (c *counted) shown(units uint64) chain.Claim {
	c.t.Helper()
	c.came += units
	return c.altered(c.deposited(chain.Memo{Type: -1}, c.address, chain.Native, units), func(claim *chain.Claim) {
		claim.Payment.Asset, claim.Cause.Token, claim.Payment.Amount = coin, coin, amount(units)
	})
}

// ask has claims authorized at once and returns the verdicts.
func (c *counted) ask(claims ...chain.Claim) []chain.Verdict {
	c.t.Helper()
	verdicts, err := c.Authorize(c.t.Context(), "vite", claims...)
	require.NoError(c.t, err)
	for i, v := range verdicts {
		require.Nil(c.t, v.Arrival)
		if v.State == chain.Authorized {
			c.took[claims[i].Cause.Ref] = claims[i].Payment.Amount.Uint256().Uint64()
		}
	}
	sum := uint64(0)
	for _, units := range c.took {
		sum += units
	}
	require.LessOrEqual(c.t, sum, c.came)
	return verdicts
}

func (c *counted) passes(claim chain.Claim) {
	c.t.Helper()
	v := c.ask(claim)[0]
	require.Equal(c.t, chain.Authorized, v.State, v.Text)
}

func (c *counted) stops(claim chain.Claim, state chain.VerdictState, text string) {
	c.t.Helper()
	v := c.ask(claim)[0]
	require.Equal(c.t, state, v.State, v.Text)
	require.Contains(c.t, v.Text, text)
}

// send has a payment between our own accounts authorized, signed and mined, and returns its block,
// which is final.
func (c *counted) send(from, to string, purpose chain.Purpose, units uint64) uint64 {
	c.t.Helper()
	claim := c.altered(chain.Claim{
		Account: from, Payment: chain.Payment{Purpose: purpose, Asset: chain.Native, To: to, Amount: amount(units)}, Cause: chain.Cause{Network: "main"},
	}, func(*chain.Claim) {})
	require.NoError(c.t, c.take("eth", claim))
	head, err := c.eth.Head(c.t.Context())
	require.NoError(c.t, err)
	c.mine()
	return head.Latest.Height
}

func (c *counted) sweepCoin(units uint64) uint64 {
	return c.send(c.address, c.eth.Address("hot"), chain.Sweep, units)
}

// TestFoundCoinIsCreditedOnce: whoever owns the daemon claims coin that only balances show in every
// way that he can think of. What is credited of an address is never more than what arrived there
// from strangers since it was given out.
func TestFoundCoinIsCreditedOnce(t *testing.T) {
	const none = "and "
	for name, try := range map[string]func(c *counted){
		"honestly": func(c *counted) { c.passes(c.found(c.hide(500), 500)) },
		"more than arrived": func(c *counted) {
			c.stops(c.found(c.hide(500), 501), chain.HeldClaim, "500 arrived at")
		},
		"in two blocks": func(c *counted) {
			height := c.hide(500)
			c.passes(c.found(height, 500))
			c.stops(c.found(height-1, 500), chain.HeldClaim, "and 500 of it is credited")
			c.stops(c.found(height+1, 1), chain.HeldClaim, "and 500 of it is credited")
		},
		"in parts": func(c *counted) {
			height := c.hide(500)
			c.passes(c.found(height, 300))
			c.passes(c.found(height-1, 200))
			c.stops(c.found(height+1, 1), chain.HeldClaim, none)
		},
		"a deposit of a block as found, then as itself": func(c *counted) {
			deposit := c.shown(700)
			c.passes(c.found(deposit.Cause.Height, 700))
			c.stops(deposit, chain.HeldClaim, "and 700 of it is credited")
		},
		"a deposit of a block as itself, then as found": func(c *counted) {
			deposit := c.shown(700)
			c.passes(deposit)
			c.stops(c.found(deposit.Cause.Height, 700), chain.HeldClaim, "and 700 of it is credited")
		},
		"both at once": func(c *counted) {
			deposit := c.shown(700)
			verdicts := c.ask(c.found(deposit.Cause.Height, 700), deposit)
			require.Equal(c.t, []chain.VerdictState{chain.Authorized, chain.LaterClaim}, []chain.VerdictState{verdicts[0].State, verdicts[1].State})
		},
		"both at once, the other way": func(c *counted) {
			deposit := c.shown(700)
			verdicts := c.ask(deposit, c.found(deposit.Cause.Height, 700))
			require.Equal(c.t, []chain.VerdictState{chain.LaterClaim, chain.Authorized}, []chain.VerdictState{verdicts[0].State, verdicts[1].State})
			c.stops(deposit, chain.HeldClaim, "and 700 of it is credited")
		},
		"two at once": func(c *counted) {
			height := c.hide(700)
			verdicts := c.ask(c.found(height, 700), c.found(height-1, 700))
			require.Equal(c.t, chain.Authorized, verdicts[0].State)
			require.Equal(c.t, chain.HeldClaim, verdicts[1].State)
		},
		"beside a deposit, which is credited too": func(c *counted) {
			deposit, height := c.shown(700), c.hide(500)
			c.passes(c.found(height, 500))
			c.passes(deposit)
			c.stops(c.found(height+1, 1), chain.HeldClaim, "and 1200 of it is credited")
		},
		"a deposit refunded, then as found": func(c *counted) {
			deposit := c.shown(700)
			deposit.Account = c.eth.Address("hot")
			deposit.Payment = chain.Payment{ID: deposit.Payment.ID, Purpose: chain.Refund, Asset: chain.Native, To: c.eth.Address("sender"), Amount: amount(700)}
			verdicts, err := c.Authorize(c.t.Context(), "eth", deposit)
			require.NoError(c.t, err)
			require.Equal(c.t, chain.Authorized, verdicts[0].State, verdicts[0].Text)
			c.stops(c.found(deposit.Cause.Height, 700), chain.HeldClaim, "and 700 of it is credited")
		},
		"after its sweep": func(c *counted) {
			c.passes(c.found(c.hide(500), 500))
			swept := c.sweepCoin(400)
			height := c.hide(300)
			c.stops(c.found(height, 300), chain.HeldClaim, none) // the sweep was not shown
			require.NoError(c.t, c.ReadOutcomes(c.t.Context(), "eth", swept))
			require.NoError(c.t, c.ReadOutcomes(c.t.Context(), "eth", swept))
			c.passes(c.found(height, 300))
			c.stops(c.found(height+1, 1), chain.HeldClaim, none)
		},
		"swept before it is claimed": func(c *counted) {
			height := c.hide(500)
			require.NoError(c.t, c.ReadOutcomes(c.t.Context(), "eth", c.sweepCoin(400)))
			c.passes(c.found(height, 500))
			c.stops(c.found(height+1, 1), chain.HeldClaim, none)
		},
		"our own coin for gas": func(c *counted) {
			height := c.send(c.eth.Address("gas"), c.address, chain.Gas, 50)
			c.stops(c.found(height, 50), chain.HeldClaim, "and 50 of it is credited")
			c.stops(c.found(height, 1), chain.HeldClaim, none)
		},
		"after a restart": func(c *counted) {
			height := c.hide(500)
			c.passes(c.found(height, 500))
			c.restart()
			c.stops(c.found(height+1, 500), chain.HeldClaim, none)
		},
		"in a block that has left the chain": func(c *counted) {
			c.eth.Hide(c.address, amount(500))
			c.eth.Mine(1)
			head, err := c.eth.Head(c.t.Context())
			require.NoError(c.t, err)
			c.eth.Reorg(1, false)
			c.mine()
			c.stops(c.found(head.Latest.Height, 500), chain.HeldClaim, "0 arrived at")
		},
		"before it is final": func(c *counted) {
			c.eth.Hide(c.address, amount(500))
			c.eth.Mine(1)
			head, err := c.eth.Head(c.t.Context())
			require.NoError(c.t, err)
			c.stops(c.found(head.Latest.Height, 500), chain.LaterClaim, "not yet")
			c.stops(c.found(head.Final.Height, 500), chain.HeldClaim, "0 arrived at")
		},
		"from before the address was issued": func(c *counted) {
			height := c.hide(0)
			c.stops(c.found(height, 1_000_000_000), chain.HeldClaim, "0 arrived at")
			c.stops(c.found(5, 1_000_000_000), chain.HeldClaim, "is known only from block")
		},
		"credited to another": func(c *counted) {
			height := c.hide(500)
			c.stops(c.found(height, 500, func(claim *chain.Claim) { claim.Payment.To = c.owner }), chain.RefusedClaim, "belongs to "+c.user)
			c.stops(c.found(height, 500, func(claim *chain.Claim) { claim.Cause.User = c.owner }), chain.RefusedClaim, "belongs to "+c.user)
		},
		"altered": func(c *counted) {
			height := c.hide(500)
			for text, change := range map[string]func(*chain.Claim){
				"is credited in tti_coin":          func(claim *chain.Claim) { claim.Payment.Asset = usd },
				"is credited in tti_coin, not":     func(claim *chain.Claim) { claim.Cause.Token = usd },
				"has no label":                     func(claim *chain.Claim) { claim.Payment.Label = "x" },
				"do not show that coin":            func(claim *chain.Claim) { claim.Cause.Sender = c.owner },
				"does not name coin":               func(claim *chain.Claim) { claim.Cause.Height++ },
				"does not name coin at":            func(claim *chain.Claim) { claim.Cause.Ref += ":1" },
				"does not name coin at an":         func(claim *chain.Claim) { claim.Cause.Ref = fmt.Sprintf("audit:%s:usd:%d", c.address, height) },
				"does not name coin at an address": func(claim *chain.Claim) { claim.Cause.Ref = fmt.Sprintf("audit:%s:native:0%d", c.address, height) },
				`not on "bsc"`:                     func(claim *chain.Claim) { claim.Cause.Chain = "bsc" },
				`not on "vite"`:                    func(claim *chain.Claim) { claim.Cause.Chain = "vite" },
			} {
				c.stops(c.found(height, 500, change), chain.RefusedClaim, text)
			}
			verdicts, err := c.Authorize(c.t.Context(), "eth", c.found(height, 500, func(claim *chain.Claim) { claim.Account = c.eth.Address("hot") }))
			require.NoError(c.t, err)
			require.Contains(c.t, verdicts[0].Text, "credited on vite")
			c.passes(c.found(height, 500))
		},
		"at an account that is nobody's": func(c *counted) {
			height := c.hide(500)
			for address, text := range map[string]string{c.eth.Address("hot"): "do not show the owner", c.eth.Address("deposit/77"): "has not issued"} {
				c.stops(c.found(height, 500, func(claim *chain.Claim) { claim.Cause.Ref = fmt.Sprintf("audit:%s:native:%d", address, height) }), chain.HeldClaim, text)
			}
		},
		"as a refund": func(c *counted) {
			height := c.hide(500)
			claim := c.found(height, 500, func(claim *chain.Claim) {
				claim.Account = c.eth.Address("hot")
				claim.Payment.Purpose, claim.Payment.Asset, claim.Payment.To = chain.Refund, chain.Native, c.payee
			})
			verdicts, err := c.Authorize(c.t.Context(), "eth", claim)
			require.NoError(c.t, err)
			require.Equal(c.t, chain.HeldClaim, verdicts[0].State)
			require.Contains(c.t, verdicts[0].Text, "needs approvals")
		},
		"while the nodes are away": func(c *counted) {
			height := c.hide(500)
			c.eth.Lie(chaintest.Always(chaintest.Refuse, chaintest.CallBalances))
			c.stops(c.found(height, 500), chain.LaterClaim, "our nodes of eth")
			c.eth.Lie(chaintest.Honest)
			c.passes(c.found(height, 500))
		},
		"while the nodes keep no state": func(c *counted) {
			height := c.hide(500)
			c.eth.KeepBalances(1)
			c.stops(c.found(height, 500), chain.HeldClaim, "do not keep the state")
		},
	} {
		t.Run(name, func(t *testing.T) { try(newCounted(t)) })
	}
}

// TestFoundCoinByChance: an address is paid, filled with gas and swept, and its coin is claimed, in
// an order that chance decides.
func TestFoundCoinByChance(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random, c := rand.New(rand.NewPCG(seed, 1)), newCounted(t)
			var blocks, spent []uint64
			var deposits []chain.Claim
			for range 150 {
				switch random.IntN(7) {
				case 0:
					blocks = append(blocks, c.hide(1+random.Uint64N(500)))
				case 1:
					deposits = append(deposits, c.shown(1+random.Uint64N(500)))
				case 2:
					blocks = append(blocks, c.send(c.eth.Address("gas"), c.address, chain.Gas, 1+random.Uint64N(50)))
				case 3:
					spent = append(spent, c.sweepCoin(1+random.Uint64N(300)))
				case 4:
					if len(spent) > 0 {
						require.NoError(t, c.ReadOutcomes(t.Context(), "eth", spent[random.IntN(len(spent))]))
					}
				case 5:
					if len(deposits) > 0 {
						c.ask(c.altered(deposits[random.IntN(len(deposits))], func(*chain.Claim) {}))
					}
				default:
					if len(blocks) > 0 {
						c.ask(c.found(blocks[random.IntN(len(blocks))]+random.Uint64N(2), 1+random.Uint64N(600)))
					}
				}
			}
			require.Greater(t, len(c.took), 10)
		})
	}
}

// TestOpenings: what an address held in the block in which it was given out is never credited;
// where that state is gone, what it holds now is not.
func TestOpenings(t *testing.T) {
	for _, c := range []struct {
		name string
		keep uint64 // blocks whose state is kept
		most uint64
	}{{"state kept", 0, 70}, {"state gone", depth + 1, 0}} {
		t.Run(c.name, func(t *testing.T) {
			w := newCounted(t)
			late := w.eth.Address("deposit/1")
			w.eth.Own(late)
			w.eth.Hide(late, amount(30))
			w.eth.Mine(1)
			w.address = late
			_, err := w.GiveAddress(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: 1, Address: late, User: w.user})
			require.NoError(t, err)
			height := w.hide(70)
			w.stops(w.found(height, 70), chain.LaterClaim, "is not read yet")
			w.eth.Mine(3)
			w.eth.KeepBalances(c.keep)
			require.NoError(t, w.checker.ReadOpenings(t.Context()))
			w.eth.KeepBalances(0)
			w.eth.Mine(2 * depth)
			if c.most == 0 {
				w.stops(w.found(height, 70), chain.HeldClaim, "is known only from block")
				return
			}
			w.stops(w.found(height, 71), chain.HeldClaim, "70 arrived at")
			w.passes(w.found(height, 70))
		})
	}
}

// TestGivenWithoutNodes: a user gets an address and a label while the signer's nodes are away. What
// came before the first block that they show again is held, later deposits are credited.
func TestGivenWithoutNodes(t *testing.T) {
	w := newCounted(t)
	w.eth.Lie(chaintest.Always(chaintest.Refuse, chaintest.CallHead))
	w.address = w.eth.Address("deposit/1")
	_, err := w.GiveAddress(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: 1, Address: w.address, User: w.user})
	require.NoError(t, err)
	w.eth.Own(w.address)
	w.eth.Lie(chaintest.Honest)
	early, hidden := w.shown(50), w.hide(20)
	w.stops(early, chain.LaterClaim, "is not read yet")
	w.stops(w.found(hidden, 20), chain.LaterClaim, "is not read yet")
	require.NoError(t, w.checker.ReadOpenings(t.Context()))
	w.restart()
	require.NoError(t, w.SettleBindings(t.Context()))
	w.mine()
	require.NoError(t, w.checker.ReadOpenings(t.Context()))
	w.stops(early, chain.HeldClaim, "before its address or label was issued")
	w.stops(w.found(hidden, 20), chain.HeldClaim, "before the address was issued")
	w.passes(w.shown(60))
	height := w.hide(70)
	w.stops(w.found(height, 71), chain.HeldClaim, "130 arrived at")
	w.passes(w.found(height, 70))
}

// TestOpeningsWaitForFinalBlocks: what an address held in a block that leaves the chain opens
// nothing, also of addresses from before the books were kept.
func TestOpeningsWaitForFinalBlocks(t *testing.T) {
	for _, c := range []struct {
		name   string
		legacy bool
	}{{"given now", false}, {"given before the books", true}} {
		t.Run(c.name, func(t *testing.T) {
			w := newCounted(t)
			w.address = w.eth.Address("deposit/1")
			b := signguard.Binding{Network: "main", Chain: "eth", Index: 1, Address: w.address, User: w.user}
			if c.legacy {
				require.NoError(t, w.guard.GiveAddress(t.Context(), b))
			} else {
				_, err := w.GiveAddress(t.Context(), b)
				require.NoError(t, err)
			}
			require.NoError(t, w.checker.ReadOpenings(t.Context()))
			coin, err := w.guard.CoinAt(t.Context(), "eth", w.address, "", 0)
			require.NoError(t, err)
			require.False(t, coin.Opened)
			head, err := w.eth.Head(t.Context())
			require.NoError(t, err)
			w.mine()
			require.NoError(t, w.checker.ReadOpenings(t.Context()))
			coin, err = w.guard.CoinAt(t.Context(), "eth", w.address, "", 0)
			require.NoError(t, err)
			require.True(t, coin.Opened)
			require.Equal(t, head.Latest.Height, coin.Since)
		})
	}
}

// TestEarlierVersionsPaidOnce: an earlier version signs for a while and stores less. What it
// credited is credited again neither as a deposit nor as found coin, and what comes later is.
func TestEarlierVersionsPaidOnce(t *testing.T) {
	for name, pay := range map[string]func(c *counted, earlier *sqlx.DB, deposit chain.Claim){
		"without authorizations": func(c *counted, earlier *sqlx.DB, deposit chain.Claim) {
			earlier.MustExec(`INSERT INTO guard (chain, account, lineage, number, digest, payment_id, live) VALUES ('vite', ?, 1, 7, ?, 900, 0)`,
				deposit.Account, signer.Fingerprint(deposit.Payment))
		},
		"without the books of coin": func(c *counted, earlier *sqlx.DB, deposit chain.Claim) {
			earlier.MustExec(`UPDATE identity SET commits = commits + 1`)
			earlier.MustExec(`INSERT INTO authorizations (cause, digest, chain, account, payment_id, network, token, user_account, payee, asset, amount, created_at, state)
				VALUES (?, ?, 'vite', ?, 900, 'main', ?, ?, ?, ?, ?, 1, 'spent')`, deposit.Key("vite"), signer.Fingerprint(deposit.Payment), deposit.Account,
				coin, c.user, c.user, coin, deposit.Payment.Amount)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCounted(t)
			c.passes(c.found(c.hide(40), 40))
			deposit := c.shown(700)
			require.NoError(t, c.guard.Close())
			earlier, err := sqlx.Open("sqlite3", c.guardFile)
			require.NoError(t, err)
			pay(c, earlier, deposit)
			c.came -= 700 // it is paid
			require.NoError(t, earlier.Close())
			c.reopen()
			require.Contains(t, []chain.VerdictState{chain.HeldClaim, chain.RefusedClaim}, c.ask(deposit)[0].State)
			c.stops(c.found(deposit.Cause.Height+1, 700), chain.HeldClaim, "is known only from block")
			head, err := c.eth.Head(t.Context())
			require.NoError(t, err)
			c.stops(c.found(head.Final.Height, 700), chain.HeldClaim, "0 arrived at")
			c.passes(c.shown(50))
			height := c.hide(60)
			c.stops(c.found(height, 61), chain.HeldClaim, "110 arrived at")
			c.passes(c.found(height, 60))
			c.reopen()
			c.passes(c.found(c.hide(30), 30))
		})
	}
}

// reopen starts the signer with the sign-guard that is in the file.
func (c *counted) reopen() {
	c.t.Helper()
	var err error
	require.NoError(c.t, c.guard.Close())
	c.guard, err = signguard.Open(c.guardFile)
	require.NoError(c.t, err)
	c.restart()
	require.NoError(c.t, c.checker.Begin(c.t.Context()))
	require.NoError(c.t, c.checker.ReadOpenings(c.t.Context()))
	c.mine()
	require.NoError(c.t, c.checker.ReadOpenings(c.t.Context()))
}

// TestOneChainsFaultStopsNoOther: the addresses of a chain whose nodes answer are opened while
// another chain's do not.
func TestOneChainsFaultStopsNoOther(t *testing.T) {
	for range 8 { // chains are in no order
		w := newCounted(t)
		w.mine()
		bsc := chaintest.New(chaintest.Config{ID: "bsc", Finality: depth})
		bsc.Mine(3 * depth)
		w.checker = cause.New(cause.Parts{
			Chains: map[chain.ID]cause.Reader{"eth": w.eth, "bsc": bsc}, Networks: w.networks, Bindings: w.guard, Coin: w.guard, Accounts: w.accounts,
		})
		w.eth.Lie(chaintest.Always(chaintest.Refuse, chaintest.CallHead))
		address := bsc.Address("deposit/9")
		require.NoError(t, w.guard.GiveAddress(t.Context(), signguard.Binding{Network: "side", Chain: "bsc", Index: 9, Address: address, User: w.user, Since: 1}))
		require.ErrorContains(t, w.checker.ReadOpenings(t.Context()), "on eth")
		coin, err := w.guard.CoinAt(t.Context(), "bsc", address, "", 0)
		require.NoError(t, err)
		require.True(t, coin.Opened)
	}
}

// TestNothingIsFoundWithoutBalances: of a chain whose nodes show none, people decide.
func TestNothingIsFoundWithoutBalances(t *testing.T) {
	c := newCounted(t)
	height := c.hide(500)
	c.checker = cause.New(cause.Parts{
		Chains: map[chain.ID]cause.Reader{"eth": struct{ cause.Reader }{c.eth}, "vite": c.vite}, Networks: c.networks, Bindings: c.guard, Coin: c.guard, Accounts: c.accounts,
	})
	v := c.verdict("vite", c.found(height, 500))
	require.Equal(t, chain.HeldClaim, v.State)
	require.Contains(t, v.Text, "show no balances")
}
