package core

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
)

type blockVectors struct {
	Valid []struct {
		Note, PrivateKeyHex string
		Block               json.RawMessage
	}
	Invalid []struct {
		Note, NodeError string
		Block           json.RawMessage
	}
}

type mainnetVectors struct {
	Blocks []struct {
		Block           json.RawMessage
		PowOk, Producer string
	}
}

func TestBlockVectors(t *testing.T) {
	var v blockVectors
	loadVectors(t, "account-blocks.json", &v)
	require.NotEmpty(t, v.Valid)
	for _, c := range v.Valid {
		b, err := DecodeBlock(c.Block)
		require.NoError(t, err, c.Note)
		require.NoError(t, b.Verify(), c.Note)

		again := *b
		again.Hash, again.PublicKey, again.Signature = Hash{}, nil, nil
		again.SignWith(testKey(t, c.PrivateKeyHex))
		require.Equal(t, *b, again, c.Note)

		text, err := EncodeBlock(b)
		require.NoError(t, err)
		back, err := DecodeBlock(text)
		require.NoError(t, err)
		require.Equal(t, b, back)
	}
	codes := map[string]error{"-36002": ErrBlockHash, "-36003": ErrBlockSignature, "-36009": ErrBlockProducer}
	for _, c := range v.Invalid {
		b, err := DecodeBlock(c.Block)
		require.NoError(t, err)
		require.ErrorIs(t, b.Verify(), codes[c.NodeError], c.Note)
	}
}

func TestMainnetBlocks(t *testing.T) {
	var v mainnetVectors
	loadVectors(t, "mainnet-blocks.json", &v)
	require.NotEmpty(t, v.Blocks)
	for _, c := range v.Blocks {
		b, err := DecodeBlock(c.Block)
		require.NoError(t, err)
		require.NoError(t, b.Verify(), b.Hash)
		require.Equal(t, c.Producer, UserAddress(PublicKey(b.PublicKey)).String())
		if b.Nonce != nil {
			require.Equal(t, "true "+b.Difficulty.String(), c.PowOk)
			require.True(t, CheckPoW(PoWDataHash(b.Address, b.PreviousHash), b.Nonce, b.Difficulty))
		}
	}
}

func TestReceiveHashIgnoresWhatNodesShow(t *testing.T) {
	b := AccountBlock{BlockType: Receive, Height: 2, Address: Address{1}, SendBlockHash: Hash{2}}
	plain := b.ComputeHash()
	b.ToAddress, b.TokenID, b.Amount, b.Fee = Address{3}, VITE, *uint256.NewInt(4), *uint256.NewInt(5)
	b.Difficulty = big.NewInt(6)
	require.Equal(t, plain, b.ComputeHash())
}

func TestEveryHashedFieldCounts(t *testing.T) {
	send := AccountBlock{BlockType: SendCall, Height: 2, Address: Address{1}}
	receive := AccountBlock{BlockType: Receive, Height: 2, Address: Address{1}}
	for name, c := range map[string]struct {
		base   AccountBlock
		change func(*AccountBlock)
	}{
		"type":     {send, func(b *AccountBlock) { b.BlockType = SendRefund }},
		"height":   {send, func(b *AccountBlock) { b.Height++ }},
		"previous": {send, func(b *AccountBlock) { b.PreviousHash[0] = 1 }},
		"address":  {send, func(b *AccountBlock) { b.Address[0] = 2 }},
		"to":       {send, func(b *AccountBlock) { b.ToAddress[0] = 1 }},
		"amount":   {send, func(b *AccountBlock) { b.Amount.SetOne() }},
		"token":    {send, func(b *AccountBlock) { b.TokenID[0] = 1 }},
		"fee":      {send, func(b *AccountBlock) { b.Fee.SetOne() }},
		"data":     {send, func(b *AccountBlock) { b.Data = []byte{0} }},
		"nonce":    {send, func(b *AccountBlock) { b.Nonce = []byte{7: 1} }},
		"source":   {receive, func(b *AccountBlock) { b.SendBlockHash[0] = 1 }},
		"logs":     {receive, func(b *AccountBlock) { b.VMLogHash = &Hash{} }},
		"sends":    {receive, func(b *AccountBlock) { b.Triggered = []*AccountBlock{{Hash: Hash{1}}} }},
	} {
		changed := c.base
		c.change(&changed)
		require.NotEqual(t, c.base.ComputeHash(), changed.ComputeHash(), name)
	}
	zeroNonce := send
	zeroNonce.Nonce = make([]byte, NonceSize)
	require.Equal(t, send.ComputeHash(), zeroNonce.ComputeHash(), "no nonce hashes as zeros")
}

func TestTriggeredHashNamesItsPlace(t *testing.T) {
	host := &AccountBlock{BlockType: Receive, Height: 9, PreviousHash: Hash{1}, Address: AssetContract}
	send := &AccountBlock{BlockType: SendReissue, Address: AssetContract, ToAddress: Address{1}, Amount: *uint256.NewInt(5)}
	first := send.ComputeTriggeredHash(host, 0)
	require.NotEqual(t, first, send.ComputeTriggeredHash(host, 1))
	require.NotEqual(t, first, send.ComputeHash())
	host.Height++
	require.NotEqual(t, first, send.ComputeTriggeredHash(host, 0))
}

func TestContractBlocksAreSignedByProducers(t *testing.T) {
	key, err := NewPrivateKey(make([]byte, SeedSize))
	require.NoError(t, err)
	b := AccountBlock{BlockType: Receive, Height: 1, Address: AssetContract, SendBlockHash: Hash{1}}
	b.SignWith(key)
	require.NoError(t, b.Verify())
	b.Address = Address{1}
	b.SignWith(key)
	require.ErrorIs(t, b.Verify(), ErrBlockProducer)
}

func TestBlockTypes(t *testing.T) {
	for typ := BlockType(0); typ < 9; typ++ {
		send := typ == 1 || typ == 2 || typ == 3 || typ == 6
		receive := typ == 4 || typ == 5 || typ == 7
		require.Equal(t, send, typ.IsSend(), typ)
		require.Equal(t, receive, typ.IsReceive(), typ)
	}
}

// TestLiveNodeBlocks takes blocks just as a node returned them, with everything it adds for
// display.
func TestLiveNodeBlocks(t *testing.T) {
	var v struct{ Blocks []json.RawMessage }
	loadVectors(t, "node-blocks.json", &v)
	require.NotEmpty(t, v.Blocks)
	verified, hosts := 0, 0
	for _, text := range v.Blocks {
		b, err := DecodeBlock(text)
		require.NoError(t, err, string(text))
		if b.Signature != nil { // genesis, and sends inside a contract's receive, have none
			require.NoError(t, b.Verify())
			verified++
		}
		for i, send := range b.Triggered {
			hosts++
			require.Equal(t, send.Hash, send.ComputeTriggeredHash(b, uint8(i)))
		}
	}
	require.Equal(t, 20, verified)
	require.Equal(t, 1, hosts)
}
