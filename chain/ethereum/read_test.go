package ethereum

import (
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/ethtest"
)

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	require.NoError(t, err)
	return text
}

func TestEveryTransactionTypeIsReadAsItWasSigned(t *testing.T) {
	c, err := New(goodConfig(), nil)
	require.NoError(t, err)
	sender := crypto.PubkeyToAddress(mustKey(t).PublicKey)
	all, err := ethtest.EveryTransactionType(mustKey(t))
	require.NoError(t, err)
	for _, tx := range all {
		text, err := tx.MarshalJSON()
		require.NoError(t, err)
		var read wireTx
		require.NoError(t, json.Unmarshal(text, &read))
		same, err := read.Signed()
		require.NoError(t, err)
		require.Equal(t, tx.Hash(), same.Hash(), "type %d", tx.Type())
		require.NoError(t, c.checkSender(&transaction{signed: same, from: sender}))
		require.ErrorContains(t, c.checkSender(&transaction{signed: same}), "its sender is "+sender.Hex())
	}
}

func TestRecordedBlock(t *testing.T) {
	raw := scanBlock(newScanner(recorded(t, "block")))
	receipts := scanReceipts(newScanner(recorded(t, "receipts")))
	c, err := New(goodConfig(), nil)
	require.NoError(t, err)
	b, err := c.prove(raw, uint64(*raw.Number), raw.Hash)
	require.NoError(t, err)
	require.NoError(t, c.attach(b, raw, receipts))
	require.Len(t, b.txs, 4)
	require.EqualValues(t, 21_000, b.txs[0].gasUsed)
	require.False(t, b.nativeLogs)
	_, err = c.prove(raw, uint64(*raw.Number), &common.Hash{1})
	require.ErrorContains(t, err, "as agreed")
	_, err = c.prove(raw, uint64(*raw.Number)+1, raw.Hash)
	require.ErrorContains(t, err, "the node answers block")
}

func TestEffectivePrice(t *testing.T) {
	tx := types.NewTx(&types.DynamicFeeTx{GasTipCap: big.NewInt(2), GasFeeCap: big.NewInt(10)})
	legacy := types.NewTx(&types.LegacyTx{GasPrice: big.NewInt(10)})
	for base, want := range map[int64]uint64{0: 2, 5: 7, 8: 10, 9: 10, 10: 10} {
		require.Equal(t, wei(want), effectivePrice(tx, big.NewInt(base)))
		require.Equal(t, wei(10), effectivePrice(legacy, big.NewInt(base)))
	}
	require.Equal(t, wei(10), effectivePrice(legacy, nil))
}

func TestFeesThatDoNotFitAreRefused(t *testing.T) {
	top := new(uint256.Int).SetAllOne()
	fee, err := (&transaction{price: wei(3), gasUsed: params.TxGas, extra: wei(1)}).fee()
	require.NoError(t, err)
	require.Equal(t, "63001", fee.String())
	_, err = (&transaction{price: top, gasUsed: 2, extra: wei(0)}).fee()
	require.Error(t, err)
	_, err = (&transaction{price: wei(1), gasUsed: 1, extra: top}).fee()
	require.Error(t, err)
}

func TestReadAnswer(t *testing.T) {
	hash := common.Hash{}
	read := func(s *scanner) { hash = common.BytesToHash(s.Bytes()) }
	good := `{"jsonrpc":"2.0","id":1,"result":"0x` + strings.Repeat("0a", 32) + `"}`
	require.NoError(t, readAnswer([]byte(good), read))
	require.Equal(t, byte(10), hash[31])
	for _, text := range []string{
		`{"id":2,"result":null}`, `{"id":1}`, `{"result":null}`, `[]`, ``, good[:40], good + "x", `{"id":1,"result":7}`, `{"id":1,"error":7}`,
	} {
		require.Error(t, readAnswer([]byte(text), read), text)
	}
	err := readAnswer([]byte(`{"id":1,"error":{"code":-32601,"message":"no \"such\" method"}}`), read)
	require.Equal(t, remoteError{-32601, `no "such" method`}, err)
	require.Equal(t, verdictNoMethod, classify(err))
}

func FuzzReadAnswer(f *testing.F) {
	f.Add(recorded(f, "block"))
	f.Add([]byte(`{"id":1,"error":{"code":1,"message":"\u00e9"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := 0
		err := readAnswer(text, func(s *scanner) { read++; s.Skip() })
		require.True(t, err != nil || read > 0, "an answer without a result")
	})
}
