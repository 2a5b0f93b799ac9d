package ethereum

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestOnlyTheExactShapeIsATransfer(t *testing.T) {
	log := types.EthTransferLog(common.Address{1}, common.Address{2}, uint256.NewInt(3))
	event, from, to := log.Topics[0], log.Topics[1], log.Topics[2]
	dirty := from
	dirty[0] = 1
	cases := []struct {
		name   string
		topics []common.Hash
		data   []byte
		want   bool
	}{
		{"ERC-20", []common.Hash{event, from, to}, log.Data, true},
		{"an NFT", []common.Hash{event, from, to, {5}}, nil, false},
		{"four topics and a word", []common.Hash{event, from, to, {5}}, log.Data, false},
		{"nothing indexed", []common.Hash{event}, make([]byte, 96), false},
		{"two words", []common.Hash{event, from, to}, make([]byte, 64), false},
		{"no data", []common.Hash{event, from, to}, nil, false},
		{"another event", []common.Hash{{1}, from, to}, log.Data, false},
		{"from is no address", []common.Hash{event, dirty, to}, log.Data, false},
		{"to is no address", []common.Hash{event, from, dirty}, log.Data, false},
	}
	for _, c := range cases {
		_, got := readTransferLog(c.topics, c.data)
		require.Equal(t, c.want, got, c.name)
	}
}

// found searches one transaction of an unproven block.
func found(t *testing.T, tx transaction, ours common.Address, tokens ...common.Address) []chain.Transfer {
	t.Helper()
	c, err := New(goodConfig(), nil)
	require.NoError(t, err)
	for _, token := range tokens {
		c.AddTokens(assetOf(token))
	}
	tx.ok, tx.value = true, new(uint256.Int)
	s := &searcher{chain: c, block: &block{txs: []transaction{tx}}, ours: map[common.Address]bool{ours: true}}
	require.NoError(t, s.transaction(0))
	return s.transfers
}

func TestFloodsOfForeignTokensAreBounded(t *testing.T) {
	us, spam, token := common.Address{1}, common.Address{2}, common.Address{3}
	log := types.EthTransferLog(spam, us, uint256.NewInt(3))
	var tx transaction
	for range 1000 {
		tx.logs = append(tx.logs, wireLog{Address: spam, Topics: log.Topics, Data: log.Data})
	}
	tx.logs = append(tx.logs, wireLog{Address: token, Topics: log.Topics, Data: log.Data})
	transfers := found(t, tx, us, token)
	require.Len(t, transfers, maxUnbridged+1)
	require.Equal(t, assetOf(token), transfers[maxUnbridged].Asset)
}

func TestALabelBelongsToTheDirectCallOnly(t *testing.T) {
	us, them, token, other := common.Address{1}, common.Address{2}, common.Address{3}, common.Address{4}
	log := types.EthTransferLog(them, us, uint256.NewInt(3))
	direct := transaction{from: them, to: &token, input: transferCall(us, uint256.NewInt(3), "42"), logs: []wireLog{{Address: token, Topics: log.Topics, Data: log.Data}}}
	require.Equal(t, "42", found(t, direct, us, token)[0].Memo.Label)
	for name, change := range map[string]func(*transaction){
		"call of another contract": func(tx *transaction) { tx.to = &other },
		"creation of a contract":   func(tx *transaction) { tx.to = nil },
		"from another's account":   func(tx *transaction) { tx.from = other },
		"to another receiver":      func(tx *transaction) { tx.input = transferCall(other, uint256.NewInt(3), "42") },
		"another function":         func(tx *transaction) { tx.input[0]++ },
	} {
		tx := direct
		tx.input = append([]byte(nil), direct.input...)
		change(&tx)
		require.Equal(t, chain.Memo{Type: noComment}, found(t, tx, us, token)[0].Memo, name)
	}
}

func TestNativeLogsOfAForeignForkAreIgnored(t *testing.T) {
	us, them := common.Address{1}, common.Address{2}
	log := types.EthTransferLog(them, us, uint256.NewInt(3))
	require.Empty(t, found(t, transaction{logs: []wireLog{{Address: log.Address, Topics: log.Topics, Data: log.Data}}}, us))
}
