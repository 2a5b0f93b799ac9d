package core

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sendMembers is a complete transfer; tests change or drop members of it.
func sendMembers(t testing.TB) map[string]any {
	var v blockVectors
	loadVectors(t, "account-blocks.json", &v)
	var members map[string]any
	require.NoError(t, json.Unmarshal(v.Valid[2].Block, &members))
	return members
}

func decodeMembers(t testing.TB, members map[string]any) (*AccountBlock, error) {
	text, err := json.Marshal(members)
	require.NoError(t, err)
	return DecodeBlock(text)
}

func TestDecodeBlockNamesTheFault(t *testing.T) {
	for _, c := range []struct {
		member string
		value  any
		want   string
	}{
		{"blockType", nil, "blockType: none of 1 to 7"},
		{"blockType", 8, "blockType: none of 1 to 7"},
		{"blockType", "2", "blockType"},
		{"blockType", 300, "blockType"},
		{"height", nil, "height: missing"},
		{"height", 3, "height"},
		{"height", "0x3", "height: not a decimal number"},
		{"height", "18446744073709551616", "height: over 64 bits"},
		{"hash", nil, "hash: missing"},
		{"hash", "00", "invalid hash"},
		{"previousHash", nil, "previousHash: missing"},
		{"prevHash", strings.Repeat("00", 32), "previousHash and prevHash differ"},
		{"address", nil, "address: missing"},
		{"address", "vite_", "invalid address"},
		{"toAddress", nil, "toAddress: missing on a send"},
		{"tokenId", nil, "tokenId: missing on a send"},
		{"amount", nil, "amount: missing on a send"},
		{"amount", "-1", "amount: not a decimal number"},
		{"amount", "1e3", "amount: not a decimal number"},
		{"amount", "+", "amount: not a decimal number"},
		{"amount", "++1", "amount: not a decimal number"},
		{"amount", "1" + strings.Repeat("0", 78), "amount: over 256 bits"},
		{"amount", strings.Repeat("0", 101), "amount: longer than 100 characters"},
		{"fee", "x", "fee: not a decimal number"},
		{"difficulty", "5", "nonce, difficulty: one without the other"},
		{"difficulty", "x", "difficulty: not a decimal number"},
		{"nonce", "AAAAAAAAAAA=", "nonce, difficulty: one without the other"},
		{"nonce", "AAAA", "nonce: 3 bytes, want 8"},
		{"publicKey", "AAAA", "publicKey: 3 bytes, want 32"},
		{"signature", "AA-_", "signature: not Base64"},
		{"data", "AAA", "data: not Base64"},
		{"data", "AAAA\n", "data: not Base64"},
		{"data", "AB==", "data: not Base64"},
		{"triggeredSendBlockList", []any{map[string]any{}}, "triggeredSendBlockList 0: hash: missing"},
		{"triggeredSendBlockList", make([]map[string]any, 257), "triggeredSendBlockList: over 256 blocks"},
		{"sendBlockList", []any{map[string]any{"sendBlockList": []any{map[string]any{}}}}, "a list inside a list"},
	} {
		members := sendMembers(t)
		members[c.member] = c.value
		_, err := decodeMembers(t, members)
		require.ErrorIs(t, err, ErrBlockJSON, "%s %v", c.member, c.value)
		require.ErrorContains(t, err, c.want, "%s %v", c.member, c.value)
	}
	for _, text := range []string{"", "[]", "1", "{", `"x"`, "{}{}"} {
		_, err := DecodeBlock([]byte(text))
		require.ErrorIs(t, err, ErrBlockJSON, text)
	}
}

func TestDecodeBlockKnowsOlderNames(t *testing.T) {
	members := sendMembers(t)
	want, err := decodeMembers(t, members)
	require.NoError(t, err)
	for newer, older := range map[string]string{"previousHash": "prevHash", "address": "accountAddress"} {
		members[older] = members[newer]
		both, err := decodeMembers(t, members)
		require.NoError(t, err)
		require.Equal(t, want, both)
		delete(members, newer)
	}
	got, err := decodeMembers(t, members)
	require.NoError(t, err)
	require.Equal(t, want, got)

	var v mainnetVectors
	loadVectors(t, "mainnet-blocks.json", &v)
	contract, err := DecodeBlock(v.Blocks[1].Block)
	require.NoError(t, err)
	older := strings.NewReplacer(`"vmLogHash"`, `"logHash"`, `"triggeredSendBlockList"`, `"sendBlockList"`,
		`"sendBlockHash"`, `"fromBlockHash"`).Replace(string(v.Blocks[1].Block))
	same, err := DecodeBlock([]byte(older))
	require.NoError(t, err)
	require.Equal(t, contract, same)
}

func TestDecodeBlockToleratesWhatNodesDo(t *testing.T) {
	members := sendMembers(t)
	want, err := decodeMembers(t, members)
	require.NoError(t, err)
	members["amount"] = "+0" + members["amount"].(string)
	members["fee"], members["data"], members["nonce"], members["difficulty"] = nil, "", nil, nil
	members["confirmations"], members["totalQuota"] = 7, "21000"
	got, err := decodeMembers(t, members)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestEncodeBlockLeavesOutWhatDoesNotApply(t *testing.T) {
	key, err := NewPrivateKey(make([]byte, SeedSize))
	require.NoError(t, err)
	receive := AccountBlock{BlockType: Receive, Height: 1, Address: key.Address(), SendBlockHash: Hash{1}}
	receive.TokenID, receive.ToAddress = VITE, key.Address()
	receive.SignWith(key)
	text, err := EncodeBlock(&receive)
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(text, &members))
	require.Len(t, members, 8)
	for _, name := range []string{"toAddress", "tokenId", "amount", "fee", "data", "difficulty", "nonce"} {
		require.NotContains(t, members, name)
	}
}

func TestEncodeBlockRefuses(t *testing.T) {
	key, err := NewPrivateKey(make([]byte, SeedSize))
	require.NoError(t, err)
	send := AccountBlock{BlockType: SendCall, Height: 2, Address: key.Address(), ToAddress: AssetContract}
	send.SignWith(key)
	_, err = EncodeBlock(&send)
	require.NoError(t, err)
	for name, spoil := range map[string]func(*AccountBlock){
		"type":          func(b *AccountBlock) { b.BlockType = SendReissue },
		"no signature":  func(b *AccountBlock) { b.Signature = nil },
		"zero address":  func(b *AccountBlock) { b.ToAddress = Address{} },
		"no source":     func(b *AccountBlock) { b.BlockType = Receive },
		"logs":          func(b *AccountBlock) { b.VMLogHash = &Hash{} },
		"nonce alone":   func(b *AccountBlock) { b.Nonce = make([]byte, 8) },
		"short nonce":   func(b *AccountBlock) { b.Nonce, b.Difficulty = make([]byte, 7), big.NewInt(1) },
		"negative work": func(b *AccountBlock) { b.Nonce, b.Difficulty = make([]byte, 8), big.NewInt(-1) },
	} {
		bad := send
		spoil(&bad)
		_, err := EncodeBlock(&bad)
		require.ErrorIs(t, err, ErrBlockJSON, name)
	}
}

func FuzzDecodeBlock(f *testing.F) {
	var v blockVectors
	loadVectors(f, "account-blocks.json", &v)
	for _, c := range v.Valid {
		f.Add([]byte(c.Block))
	}
	var m mainnetVectors
	loadVectors(f, "mainnet-blocks.json", &m)
	for _, c := range m.Blocks {
		f.Add([]byte(c.Block))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := DecodeBlock(text)
		if err != nil {
			require.ErrorIs(t, err, ErrBlockJSON)
			return
		}
		hash := b.ComputeHash()
		_ = b.Verify()
		again, err := EncodeBlock(b)
		if err != nil {
			return
		}
		back, err := DecodeBlock(again)
		require.NoError(t, err)
		require.Equal(t, hash, back.ComputeHash())
	})
}
