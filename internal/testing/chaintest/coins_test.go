package chaintest_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
)

// coinsEnv is a ledger of coins with a pool of so many coins of 100,000.
type coinsEnv struct {
	*chaintest.Chain
	t *testing.T
}

func newCoinsEnv(t *testing.T, coins int) coinsEnv {
	w := coinsEnv{chaintest.New(chaintest.Config{ID: "mem", Pool: "m/0", Finality: 4}), t}
	w.Own(w.Address("m/0"), w.Address("m/1"))
	w.SetAccounts(w.CoinsOf("m/0", "m/1"))
	for range coins {
		w.Endow(w.Address("m/0"), chain.Native, chain.NewAmount(100_000))
	}
	return w
}

func (w coinsEnv) slot(number uint64) chain.Slot {
	w.t.Helper()
	return chain.Slot{Account: w.Address("m/0"), Key: "m/0", Nonce: number, Coin: w.Unspent("m/0", "m/1")[number].Out}
}

func (w coinsEnv) pay(amount uint64) chain.Payment {
	return chain.Payment{ID: 1, Purpose: chain.Credit, Asset: chain.Native, To: w.Address("payee"), Amount: chain.NewAmount(amount)}
}

func (w coinsEnv) sign(slot chain.Slot, pay chain.Payment, earlier ...chain.Attempt) chain.Attempt {
	w.t.Helper()
	a, err := chaintest.Sign(w.t.Context(), w, chaintest.NoKeys{}, slot, pay, earlier)
	require.NoError(w.t, err)
	return a
}

func (w coinsEnv) send(a chain.Attempt) error { return chaintest.Send(w.t.Context(), w, a) }

func (w coinsEnv) requirePaid(want uint64) {
	w.t.Helper()
	require.Equal(w.t, chain.NewAmount(want), w.Holding(w.Address("payee"), chain.Native))
}

func (w coinsEnv) block(height uint64) chain.Block {
	w.t.Helper()
	b, err := w.Block(w.t.Context(), height)
	require.NoError(w.t, err)
	return b
}

func TestCoinsAreReplacedByHigherFees(t *testing.T) {
	w := newCoinsEnv(t, 2)
	slot := w.slot(0)
	first := w.sign(slot, w.pay(5000))
	rival := w.sign(slot, w.pay(6000))
	require.NoError(t, w.send(first))
	require.ErrorContains(t, w.send(rival), "underpriced", "it offers as much")
	second := w.sign(slot, w.pay(5000), first)
	w.KeepFirst(true)
	require.ErrorContains(t, w.send(second), "conflict")
	w.SetBaseFee(100)
	low, err := w.Underpriced(t.Context(), slot, first)
	require.NoError(t, err)
	require.False(t, low, "no replacement would help")
	w.KeepFirst(false)
	low, err = w.Underpriced(t.Context(), slot, first)
	require.NoError(t, err)
	require.True(t, low)
	w.Mine(1)
	w.requirePaid(0)
	w.SetBaseFee(10)
	require.NoError(t, w.send(second))
	w.Gossip() // the first is worth less
	w.Mine(1)
	w.requirePaid(5000)
	require.ErrorContains(t, w.send(first), "missing or spent")
	w.Reorg(1, false)
	require.NoError(t, w.send(first), "an earlier attempt may be mined as well")
	w.Mine(1)
	w.requirePaid(5000)
	require.Equal(t, map[uint64]int{1: 1}, w.Paid())
}

func TestThiefSpendsTheCoin(t *testing.T) {
	w := newCoinsEnv(t, 2)
	slot := w.slot(0)
	a := w.sign(slot, w.pay(5000))
	require.NoError(t, w.send(a))
	hash := w.Steal("m/0", w.Address("thief"), slot.Coin)
	require.Equal(t, []string{hash}, w.Waiting())
	w.Mine(1)
	require.Error(t, w.send(a))
	own := w.block(1).OwnTxs
	require.Len(t, own, 1)
	require.Equal(t, []any{hash, []string{slot.Coin}, w.Address("thief")}, []any{own[0].Tx, own[0].Spent, own[0].To})
	out, err := w.Describe(t.Context(), hash)
	require.NoError(t, err)
	require.Equal(t, slot.Coin, out.Coin)
}

func TestRewardMatures(t *testing.T) {
	w := newCoinsEnv(t, 0)
	hash := w.MineTo(w.Address("m/1"), chain.NewAmount(50_000))
	b := w.block(1)
	require.Equal(t, uint64(9), b.Transfers[0].Matures)
	require.Equal(t, b.Transfers[0].Matures, b.Coins[0].Matures)
	w.Mine(6)
	require.Empty(t, w.Unspent("m/1"))
	w.Mine(1)
	require.Len(t, w.Unspent("m/1"), 1)
	require.Equal(t, hash+":0", w.Unspent("m/1")[0].Out)
	w.Reorg(8, true)
	w.Gossip()
	w.Mine(1)
	require.True(t, w.Holding(w.Address("m/1"), chain.Native).IsZero(), "a reward is its block's alone")
}

// TestCoinsOfOneTransaction: several outputs to us are transfers of their own, whoever gets two.
func TestCoinsOfOneTransaction(t *testing.T) {
	w := newCoinsEnv(t, 0)
	out := func(key string) chaintest.Out {
		return chaintest.Out{To: w.Address(key), Asset: chain.Native, Amount: chain.NewAmount(7000)}
	}
	hash := w.Send(out("m/1"), out("stranger"), out("m/0"), out("m/1"))
	w.Mine(1)
	b := w.block(1)
	require.Len(t, b.Transfers, 3)
	for i, ref := range []string{hash + ":0", hash + ":2", hash + ":3"} {
		require.Equal(t, []any{ref, ref}, []any{b.Transfers[i].Ref, b.Coins[i].Out})
		require.Empty(t, b.Transfers[i].From)
	}
}

// TestSlotsShareNoCoin: the next slot does not get a coin that was chosen for another one, whether
// that is stored or not, until the choice expires.
func TestSlotsShareNoCoin(t *testing.T) {
	w := newCoinsEnv(t, 4)
	first, second := w.slot(0), w.slot(2)
	a := w.sign(first, w.pay(150_000))
	b := w.sign(second, w.pay(150_000))
	require.Len(t, a.Coins, 2)
	require.Len(t, b.Coins, 2)
	require.NotContains(t, b.Coins, a.Coins[0])
	require.NotContains(t, b.Coins, a.Coins[1])
	again := w.sign(second, w.pay(150_000))
	require.Equal(t, b.Coins, again.Coins)
	_, err := w.Prepare(t.Context(), w.slot(1), w.pay(150_000), nil)
	require.ErrorIs(t, err, chain.ErrNotNow)
	_, err = w.Prepare(t.Context(), chain.Slot{Account: w.Address("m/0"), Key: "m/0", Coin: "none:0"}, w.pay(5000), nil)
	require.ErrorIs(t, err, chain.ErrNotNow)
	w.Mine(6)
	_, err = w.Prepare(t.Context(), w.slot(1), w.pay(150_000), nil)
	require.NoError(t, err)
	w.LoseMemory()
	_, err = w.Prepare(t.Context(), w.slot(3), w.pay(350_000), nil)
	require.NoError(t, err)
}

// TestRulesOfCoins: a transaction is signed only if it spends the slot's coin first, pays exactly
// the payments and returns the rest.
func TestRulesOfCoins(t *testing.T) {
	w := newCoinsEnv(t, 3)
	slot := w.slot(0)
	batch := chain.Payment{ID: 1, Purpose: chain.Batch, Asset: chain.Native, Amount: chain.NewAmount(120_000), Members: []chain.Payment{w.pay(60_000), w.pay(60_000)}}
	a, err := w.Prepare(t.Context(), slot, batch, nil)
	require.NoError(t, err)
	digests, err := w.Rules().Digests(chain.Order{Slot: slot, Payment: batch, Unsigned: a.Raw})
	require.NoError(t, err)
	require.Len(t, digests, 2, "one for each coin")
	for name, bend := range map[string]func(tx map[string]any){
		"another coin first": func(tx map[string]any) {
			coins := tx["Spends"].([]any)
			coins[0], coins[1] = coins[1], coins[0]
		},
		"no coin":       func(tx map[string]any) { delete(tx, "Spends") },
		"another payee": func(tx map[string]any) { tx["Members"].([]any)[1].(map[string]any)["To"] = w.Address("thief") },
		"more":          func(tx map[string]any) { tx["Members"].([]any)[1].(map[string]any)["Amount"] = "60001" },
		"one payee less": func(tx map[string]any) {
			tx["Members"] = tx["Members"].([]any)[:1]
		},
		"change to another account": func(tx map[string]any) { tx["Key"] = "m/1" },
	} {
		var tx map[string]any
		require.NoError(t, json.Unmarshal(a.Raw, &tx))
		bend(tx)
		raw, err := json.Marshal(tx)
		require.NoError(t, err)
		_, err = w.Rules().Digests(chain.Order{Slot: slot, Payment: batch, Unsigned: raw})
		require.Error(t, err, name)
	}
	require.NoError(t, w.send(w.sign(slot, batch)))
	w.Mine(1)
	w.requirePaid(120_000)
	require.Equal(t, []chain.Outcome{chain.MemberPaid, chain.MemberPaid}, w.block(1).OwnTxs[0].Members)
}

// FuzzCoins throws bytes at the ledger of coins: no value may come out of nothing.
func FuzzCoins(f *testing.F) {
	f.Add([]byte(`{"Chain":"mem","Key":"m/0","Asset":"native","To":"x","Amount":"1000","Tip":"0","Cap":"20","Signed":true,"Spends":[{"Out":"a:0","Key":"m/0"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := newCoinsEnv(t, 2)
		_ = w.send(chain.Attempt{Raw: raw})
		good := w.sign(w.slot(0), w.pay(5000))
		_ = w.send(chain.Attempt{Raw: append(good.Raw, raw...)})
		w.Mine(1)
		sum := w.Burnt()
		for _, assets := range w.Balances() {
			var err error
			sum, err = sum.Add(assets[chain.Native])
			require.NoError(t, err)
		}
		require.Equal(t, chain.NewAmount(200_000), sum)
	})
}
