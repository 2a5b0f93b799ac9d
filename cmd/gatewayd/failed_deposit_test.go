package main

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/dev"
)

// TestStrangersWriteNothingIntoAUsersList has a stranger make transactions fail that would have
// paid a user: of more than there is, of more than the stranger has, and of less than the minimum.
// The user's list shows none of them, and shows one that the user could have meant.
func TestStrangersWriteNothingIntoAUsersList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u, stranger := r.newUser(t, "USDT"), r.newUser(t, "USDT")
	to := common.HexToAddress(depositAddress(t, u))
	pay := func(to common.Address, amount *big.Int) common.Hash {
		target, value, call := dev.TransferOf(u.Token.Asset, to, amount, nil)
		hash, err := stranger.Eth.Submit(t.Context(), target, value, call)
		require.NoError(t, err)
		return hash
	}
	fails := func(amount *big.Int) string { return pay(to, amount).Hex() }
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	has, err := stranger.Eth.Balance(t.Context(), u.Token.Asset, stranger.Eth.Address())
	require.NoError(t, err)
	little := new(big.Int).Sub(u.Times(1).Uint256().ToBig(), big.NewInt(1))
	fails(most)
	fails(new(big.Int).Add(has, big.NewInt(1)))

	r.Source.StopMining() // what comes now is in one block: the first takes all, the others fail
	hash := pay(stranger.Faucet.Address(), has)
	fails(little)
	shown := fails(has)
	r.Source.StartMining()
	require.NoError(t, stranger.Eth.Mined(t.Context(), hash))

	u.mustAwait(t, "/deposit-records", shown, "OPPOSITE_CONFIRMED_FAIL")
	paid := u.mustDeposit(t, u.Times(3))
	var page struct {
		TotalCount     int                `json:"totalCount"`
		DepositRecords []dev.PublicRecord `json:"depositRecords"`
	}
	query := map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String(), "pageNum": "1", "pageSize": "30"}
	require.NoError(t, u.Gateway.Get(t.Context(), "/deposit-records", query, &page))
	require.Equal(t, 2, page.TotalCount)
	require.Equal(t, []string{paid.InTxHash, shown}, []string{page.DepositRecords[0].InTxHash, page.DepositRecords[1].InTxHash})
	require.Equal(t, has.String(), page.DepositRecords[1].Amount)
	require.Empty(t, r.needingOperator(t))
	r.waitUntilSettled(t)
}
