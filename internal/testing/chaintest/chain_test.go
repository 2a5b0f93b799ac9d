package chaintest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
)

const token chain.Asset = "token"

func harness(linked bool) func(*testing.T) chaintest.Harness {
	return harnessOf(chaintest.Config{ID: "mem", Linked: linked, Finality: 4})
}

// coinsHarness is that of a ledger of coins.
func coinsHarness(t *testing.T) chaintest.Harness {
	h := harnessOf(chaintest.Config{ID: "mem", Pool: "m/0", Finality: 4})(t)
	c := h.Chain.(*chaintest.Chain)
	h.Asset = chain.Native
	for range 3 {
		c.Endow(h.Payer.Address, chain.Native, chain.NewAmount(1_000_000))
	}
	accounts := c.CoinsOf(h.Payer.Key, h.Inbox.Key)
	c.SetAccounts(accounts)
	h.Coins = func(t *testing.T) []chain.HeldCoin {
		held, err := accounts.HeldCoins(t.Context(), "mem", h.Payer.Address)
		require.NoError(t, err)
		return held
	}
	return h
}

func harnessOf(config chaintest.Config) func(*testing.T) chaintest.Harness {
	return func(*testing.T) chaintest.Harness {
		c, linked := chaintest.New(config), config.Linked
		account := func(key string) chaintest.Account {
			c.Own(c.Address(key))
			return chaintest.Account{Address: c.Address(key), Key: key}
		}
		payer, inbox := account("m/0"), account("m/1")
		if config.Pool == "" {
			c.Endow(payer.Address, token, chain.NewAmount(1_000_000))
		}
		c.Endow(payer.Address, chain.Native, chain.NewAmount(1_000_000))
		users := 0
		return chaintest.Harness{
			Chain: c, Keys: chaintest.NoKeys{}, Linked: linked, Asset: token, Payer: payer, Inbox: inbox, Depth: 4,
			Addresses: addresses(c, linked),
			Outsider: func(*testing.T) string {
				users++
				return c.Address(fmt.Sprintf("user %d", users))
			},
			Deposit: func(_ *testing.T, to string, asset chain.Asset, amount chain.Amount) string {
				return c.Deposit(c.Address("depositor"), to, asset, amount, chain.Memo{Type: -1})
			},
			Holding: func(_ *testing.T, account string, asset chain.Asset) chain.Amount { return c.Holding(account, asset) },
			Mine:    func(_ *testing.T, n int) { c.Mine(n) },
			Reorg:   func(_ *testing.T, depth int, keep bool) { c.Reorg(depth, keep) },
		}
	}
}

func addresses(c *chaintest.Chain, linked bool) []chaintest.AddressCase {
	a := c.Address("somebody")
	label := chaintest.AddressCase{Address: a, Label: "42", Want: a}
	if linked {
		label = chaintest.AddressCase{Address: a, Label: "42", Err: chain.ErrLabel}
	}
	return []chaintest.AddressCase{
		label,
		{Address: a, Want: a},
		{Address: strings.ToUpper(a), Want: a},
		{Address: a, Label: "two\nlines", Err: chain.ErrLabel},
		{Address: a, Label: strings.Repeat("x", 65), Err: chain.ErrLabel},
		{Address: a[:len(a)-1], Err: chain.ErrAddress},
		{Address: a + "0", Err: chain.ErrAddress},
		{Address: "other_" + a[4:], Err: chain.ErrAddress},
		{Address: "mem_" + strings.Repeat("0", 40), Err: chain.ErrAddress},
		{Address: "", Err: chain.ErrAddress},
	}
}

func TestNonceLedgerConforms(t *testing.T)  { chaintest.Run(t, harness(false)) }
func TestLinkedLedgerConforms(t *testing.T) { chaintest.Run(t, harness(true)) }
func TestCoinsLedgerConforms(t *testing.T)  { chaintest.Run(t, coinsHarness) }
