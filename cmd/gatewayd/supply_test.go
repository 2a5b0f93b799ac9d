package main

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/operator"
	"gatewayd/vite/core"
	"gatewayd/wallet"
)

// TestTokensIssuedBehindTheGatewaysBack: of a token that the gateway issues, everything in other
// hands must be covered. What its owner issues besides is named by the audit and closes the token's
// channels with the figure, until it is covered.
func TestTokensIssuedBehindTheGatewaysBack(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		c.Networks[0].Tokens[1].Issued = true
		hot, err := w.keys.Address(wallet.SourcePaths(ethereum.CoinType).Hot(0))
		require.NoError(t, err)
		hash, err := w.source.SendToken(w.source.Contracts().USDT, common.HexToAddress(hot), units(dev.Token{Decimals: 6}, 22_000_000).Uint256().ToBig()) // what the user has is covered, and the environment funds only who has nothing
		require.NoError(t, err)
		waitFor(t, "the tokens", func() bool {
			receipt, err := w.source.Client().TransactionReceipt(t.Context(), hash)
			return err == nil && receipt.Status == 1
		})
	})
	circulating := func(thousandths uint64) func() bool {
		return func() bool {
			s, _ := w.auditRow(t, "USDT")
			return s.Supply != nil && *s.Supply == units(w.user.Token, thousandths)
		}
	}
	waitFor(t, "circulating supply", circulating(20_000_000))
	w.user.mustDeposit(t, units(w.user.Token, 30_000))
	var s operator.SheetRow
	waitFor(t, "an audit that is content", func() (ok bool) {
		s, ok = w.auditRow(t, "USDT")
		return ok
	})
	require.Equal(t, []chain.Amount{units(w.user.Token, 20_030_000), units(w.user.Token, 30_000)}, []chain.Amount{*s.Supply, s.Circulating}, "by the chain, and by the books")
	w.waitUntilWell(t)

	token, err := core.ParseTokenID(w.user.Token.Token)
	require.NoError(t, err)
	issue, err := core.ReIssue.Pack(token, *units(w.user.Token, 5_000_000).Uint256(), w.user.Vite.Address())
	require.NoError(t, err)
	_, err = w.user.Vite.Send(t.Context(), core.AssetContract, core.VITE, new(uint256.Int), issue)
	require.NoError(t, err)
	waitFor(t, "closed channels", func() bool { return strings.Count(w.mustCommand(t, "channel", "list"), "3000 USDT is missing") == 2 })
	out, ok := w.runCommand(t, "audit")
	require.False(t, ok)
	require.Contains(t, out, "3000 USDT-000 is missing; 25000 USDT-000 more is in circulation than the books show")
	require.Regexp(t, `in circulation +25030 USDT-000\n`, out)
	w.topUp(t) // two thousand each
	w.topUp(t)
	w.waitUntilWell(t)
}
