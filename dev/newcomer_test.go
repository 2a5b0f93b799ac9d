package dev

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/daemon"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// TestNewcomerWithoutQuota: an account without a stake receives its first transfer and sends it on,
// with trivial proof of work.
func TestNewcomerWithoutQuota(t *testing.T) {
	keys, err := wallet.FromMnemonic(Mnemonic)
	require.NoError(t, err)
	genesis, err := Genesis(keys)
	require.NoError(t, err)
	chain, err := daemon.NewEmbedded(node.Config{Dir: t.TempDir(), Genesis: genesis, SnapshotInterval: 50 * time.Millisecond})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1) // one answer
	go func() { ended <- chain.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ended)
	}()
	rich, err := NewViteUser(t.Context(), chain.URL(), userKey(t, 0))
	require.NoError(t, err)
	defer rich.Node.Close()
	key, err := core.NewPrivateKey(bytes.Repeat([]byte{7}, 32))
	require.NoError(t, err)
	newcomer, err := NewViteUser(t.Context(), chain.URL(), key)
	require.NoError(t, err)
	defer newcomer.Node.Close()

	hash, err := rich.Send(t.Context(), newcomer.Address(), core.VITE, uint256.NewInt(5), nil)
	require.NoError(t, err)
	newcomer.addWork(t, &core.AccountBlock{BlockType: core.Receive, SendBlockHash: hash})
	newcomer.addWork(t, &core.AccountBlock{BlockType: core.SendCall, ToAddress: rich.Address(), TokenID: core.VITE, Amount: *uint256.NewInt(3)})
	have, err := newcomer.Balance(t.Context(), core.VITE)
	require.NoError(t, err)
	require.Equal(t, "2", have.String())
}

func userKey(t *testing.T, n uint32) core.PrivateKey {
	t.Helper()
	key, err := Info{Mnemonic: Mnemonic}.UserKey(n)
	require.NoError(t, err)
	return key
}

// addWork adds proof of work to a block, as a wallet does that has the node find the nonce.
func (u *ViteUser) addWork(t *testing.T, b *core.AccountBlock) {
	t.Helper()
	intent := client.Intent{Address: u.Address(), BlockType: b.BlockType}
	if b.IsSend() {
		intent.ToAddress = &b.ToAddress
	}
	var need client.PoW
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, Poll(ctx, func() (bool, error) { // once for each snapshot block
		latest, err := u.Node.LatestAccountBlock(ctx, u.Address())
		if err == nil && latest != nil {
			intent.PreviousHash = latest.Hash
		}
		need, err = u.Node.PoWDifficulty(ctx, intent)
		return err == nil, nil
	}))
	require.EqualValues(t, newcomerWork, need.Difficulty.Uint64())
	require.NoError(t, u.Node.Call(t.Context(), &b.Nonce, "util_getPoWNonce", need.Difficulty.String(), core.PoWDataHash(u.Address(), intent.PreviousHash)))
	b.Difficulty = need.Difficulty
	_, err := u.Submit(t.Context(), b)
	require.NoError(t, err)
}
