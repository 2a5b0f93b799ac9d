package ethnode_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
)

func bigNumber(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

func alloc(to common.Address, wei int64) map[common.Address]*big.Int {
	return map[common.Address]*big.Int{to: big.NewInt(wei)}
}

// call sends a call from the faucet and returns its receipt.
func (b bundle) call(to common.Address, value int64, data []byte) *types.Receipt {
	b.Helper()
	hash, err := b.SendCall(to, big.NewInt(value), data)
	require.NoError(b, err)
	b.mine(1)
	receipt, err := b.web.TransactionReceipt(b.Context(), hash)
	require.NoError(b, err)
	return receipt
}

func (b bundle) deploy(code string, arguments ...byte) common.Address {
	b.Helper()
	address, err := b.Deploy(append(common.FromHex(code), arguments...))
	require.NoError(b, err)
	b.mine(1)
	deployed, err := b.web.CodeAt(b.Context(), address, nil)
	require.NoError(b, err)
	require.NotEmpty(b, deployed)
	return address
}

func (b bundle) tokens(token, of common.Address) int64 {
	b.Helper()
	bound := contracts.NewTestToken()
	out, err := b.web.CallContract(b.Context(), ethereum.CallMsg{To: &token, Data: bound.PackBalanceOf(of)}, nil)
	require.NoError(b, err)
	amount, err := bound.UnpackBalanceOf(out)
	require.NoError(b, err)
	return amount.Int64()
}

func (b bundle) faucet() common.Address { return crypto.PubkeyToAddress(b.FaucetKey().PublicKey) }

func TestTokenTransfer(t *testing.T) {
	b := setup(t)
	for _, token := range []common.Address{b.Contracts().USDT, b.Contracts().DAI} {
		_, err := b.SendToken(token, someone(1), big.NewInt(1_500_000))
		require.NoError(t, err)
	}
	b.mine(1)
	require.EqualValues(t, 1_500_000, b.tokens(b.Contracts().USDT, someone(1)))
	require.EqualValues(t, 1_500_000, b.tokens(b.Contracts().DAI, someone(1)))
}

func TestTokenTransferTakesBytesBehindItsArguments(t *testing.T) {
	b := setup(t)
	data := append(contracts.NewTestToken().PackTransfer(someone(1), big.NewInt(9)), []byte("label 77")...)
	receipt := b.call(b.Contracts().USDT, 0, data)
	require.Equal(t, types.ReceiptStatusSuccessful, receipt.Status)
	require.EqualValues(t, 9, b.tokens(b.Contracts().USDT, someone(1)))
}

func TestTokenRefusesWhatIsNotThere(t *testing.T) {
	b := setup(t)
	token := contracts.NewTestToken()
	tooMuch := new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)
	require.Equal(t, types.ReceiptStatusFailed, b.call(b.Contracts().USDT, 0, token.PackTransfer(someone(1), tooMuch)).Status)
	require.Equal(t, types.ReceiptStatusFailed, b.call(b.Contracts().USDT, 0, token.PackTransferFrom(someone(1), someone(2), big.NewInt(1))).Status)
}

func TestBatchPayerPaysMany(t *testing.T) {
	b := setup(t)
	payer, token := contracts.NewBatchPayer(), contracts.NewTestToken()
	receivers := []common.Address{someone(1), someone(2), someone(3)}
	amounts := []*big.Int{big.NewInt(1), big.NewInt(2), big.NewInt(3)}

	receipt := b.call(b.Contracts().BatchPayer, 6, payer.PackPayNative(receivers, amounts))
	require.Equal(t, types.ReceiptStatusSuccessful, receipt.Status)
	require.EqualValues(t, 2, b.balance(someone(2)))

	b.call(b.Contracts().USDT, 0, token.PackApprove(b.Contracts().BatchPayer, big.NewInt(6)))
	receipt = b.call(b.Contracts().BatchPayer, 0, payer.PackPayToken(b.Contracts().USDT, receivers, amounts))
	require.Equal(t, types.ReceiptStatusSuccessful, receipt.Status)
	require.Len(t, receipt.Logs, 3)
	require.EqualValues(t, 3, b.tokens(b.Contracts().USDT, someone(3)))
}

func TestBatchPayerPaysAllOrNothing(t *testing.T) {
	b := setup(t)
	payer := contracts.NewBatchPayer()
	refusing := b.deploy(contracts.RejectorMetaData.Bin)
	one := []*big.Int{big.NewInt(1), big.NewInt(1)}
	cases := []struct {
		name      string
		value     int64
		receivers []common.Address
		amounts   []*big.Int
	}{
		{"too little", 1, []common.Address{someone(1), someone(2)}, one},
		{"too much", 3, []common.Address{someone(1), someone(2)}, one},
		{"lengths", 2, []common.Address{someone(1)}, one},
		{"refused", 2, []common.Address{someone(1), refusing}, one},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			receipt := b.call(b.Contracts().BatchPayer, c.value, payer.PackPayNative(c.receivers, c.amounts))
			require.Equal(t, types.ReceiptStatusFailed, receipt.Status)
			require.Zero(t, b.balance(someone(1)))
		})
	}
}

func TestFeeTokenDeliversLess(t *testing.T) {
	b := setup(t)
	token := b.deploy(contracts.FeeTokenMetaData.Bin)
	b.call(token, 0, contracts.NewFeeToken().PackMint(b.faucet(), big.NewInt(1000)))
	receipt := b.call(token, 0, contracts.NewFeeToken().PackTransfer(someone(1), big.NewInt(1000)))
	require.Len(t, receipt.Logs, 2)
	require.EqualValues(t, 990, b.tokens(token, someone(1)))
}

func TestSilentTokenMovesWithoutAnAnswer(t *testing.T) {
	b := setup(t)
	token := b.deploy(contracts.SilentTokenMetaData.Bin)
	data := contracts.NewSilentToken().PackTransfer(someone(1), big.NewInt(7))
	out, err := b.web.CallContract(t.Context(), ethereum.CallMsg{From: b.faucet(), To: &token, Data: data}, nil)
	require.NoError(t, err)
	require.Empty(t, out)
	b.call(token, 0, data)
	require.EqualValues(t, 7, b.tokens(token, someone(1)))
}

func TestLyingTokenMovesNothing(t *testing.T) {
	b := setup(t)
	token := b.deploy(contracts.LyingTokenMetaData.Bin)
	lying := contracts.NewLyingToken()
	receipt := b.call(token, 0, lying.PackClaim(b.faucet(), someone(1), big.NewInt(7)))
	transfer, err := contracts.NewTestToken().UnpackTransferEvent(receipt.Logs[0])
	require.NoError(t, err)
	require.Equal(t, someone(1), transfer.To)
	require.Zero(t, b.tokens(token, someone(1)))
	require.Empty(t, b.call(token, 0, lying.PackTransfer(someone(1), big.NewInt(7))).Logs)
}

func TestRejectorRefusesUntilTold(t *testing.T) {
	b := setup(t)
	address := b.deploy(contracts.RejectorMetaData.Bin)
	require.Equal(t, types.ReceiptStatusFailed, b.call(address, 5, nil).Status)
	b.call(address, 0, contracts.NewRejector().PackSetAccepts(true))
	require.Equal(t, types.ReceiptStatusSuccessful, b.call(address, 5, nil).Status)
	require.EqualValues(t, 5, b.balance(address))
}

// frame is callTracer's description of one call.
type frame struct {
	Type  string         `json:"type"`
	To    common.Address `json:"to"`
	Value string         `json:"value"`
	Error string         `json:"error"`
	Calls []frame        `json:"calls"`
}

func (b bundle) trace(block common.Hash) []frame {
	b.Helper()
	var results []struct {
		Result json.RawMessage `json:"result"`
	}
	tracer := map[string]string{"tracer": "callTracer"}
	require.NoError(b, b.web.Client().CallContext(b.Context(), &results, "debug_traceBlockByHash", block, tracer))
	frames := make([]frame, len(results))
	for i, r := range results {
		require.NoError(b, json.Unmarshal(r.Result, &frames[i]))
	}
	return frames
}

func TestForwarderMovesCoinsInsideTheTransaction(t *testing.T) {
	b := setup(t)
	forwarder, bound := b.deploy(contracts.ForwarderMetaData.Bin), contracts.NewForwarder()

	receipt := b.call(forwarder, 5, bound.PackForward(someone(1)))
	require.EqualValues(t, 5, b.balance(someone(1)))
	inner := b.trace(receipt.BlockHash)[0].Calls[0]
	require.Equal(t, frame{Type: "CALL", To: someone(1), Value: "0x5"}, inner)

	receipt = b.call(forwarder, 5, bound.PackForwardUndone(someone(2)))
	require.Equal(t, types.ReceiptStatusSuccessful, receipt.Status)
	require.Zero(t, b.balance(someone(2)))
	undone := b.trace(receipt.BlockHash)[0].Calls[0]
	require.NotEmpty(t, undone.Error)
	require.Equal(t, someone(2), undone.Calls[0].To)

	receipt = b.call(forwarder, 5, bound.PackForwardByDestruction(someone(3)))
	require.EqualValues(t, 5, b.balance(someone(3)))
	destroyed := b.trace(receipt.BlockHash)[0].Calls[0].Calls[0]
	require.Equal(t, frame{Type: "SELFDESTRUCT", To: someone(3), Value: "0x5"}, destroyed)
}

func TestOldBlocksCanBeTraced(t *testing.T) {
	b := setup(t)
	b.sendETH(someone(1), 5)
	old := b.mine(1)
	b.mine(300)
	require.Equal(t, "0x5", b.trace(old)[0].Value)
}

func TestAmsterdamLogsMovementsOfNativeCoin(t *testing.T) {
	dir := t.TempDir()
	amsterdam := func(c *ethnode.Config) { c.Amsterdam, c.Dir = true, dir }
	b := setup(t, amsterdam)
	forwarder := b.deploy(contracts.ForwarderMetaData.Bin)
	receipt := b.call(forwarder, 5, contracts.NewForwarder().PackForward(someone(1)))
	require.Len(t, receipt.Logs, 2)
	line := b.line()
	require.NoError(t, b.Close())
	require.Equal(t, line, setup(t, amsterdam).line())
}
