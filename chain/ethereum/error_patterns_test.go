package ethereum

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/txpool/legacypool"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/stretchr/testify/require"
)

// TestClassifyKnowsEveryClient lists observed texts of clients. geth's own are taken from its code,
// so that a new version shows.
func TestClassifyKnowsEveryClient(t *testing.T) {
	cases := map[verdict][]string{
		verdictKnown: {
			txpool.ErrAlreadyKnown.Error(), "AlreadyKnown", "Known transaction", "transaction already imported",
			"Transaction with the same hash was already imported.", "existing tx with same hash", "tx already in mempool",
		},
		verdictNonceUsed: {
			core.ErrNonceTooLow.Error() + ": next nonce 5, tx nonce 4", "nonce too low", "Nonce too low", "OldNonce, Current nonce: 5",
			"Transaction nonce is too low. Try incrementing the nonce.", "nonce has already been used",
		},
		verdictReplaceFee: {
			txpool.ErrReplaceUnderpriced.Error(), "Replacement transaction underpriced", "ReplacementNotAllowed",
			"could not replace existing tx: fee too low",
		},
		verdictLowFee: {
			txpool.ErrUnderpriced.Error(), txpool.ErrTxGasPriceTooLow.Error() + ": gas tip cap 0, minimum needed 1", core.ErrFeeCapTooLow.Error(),
			"max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 7", "FeeTooLow, MaxFeePerGas too low",
			"Gas price below configured minimum gas price", "Transaction gas price too low",
		},
		verdictUnfunded: {
			core.ErrInsufficientFunds.Error() + ": balance 0, tx cost 1", core.ErrInsufficientFundsForTransfer.Error(),
			"Insufficient funds for gas * price + value", "InsufficientFunds, Account balance: 0", "Upfront cost exceeds account balance",
		},
		verdictPoolFull: {
			legacypool.ErrTxPoolOverflow.Error(), txpool.ErrAccountLimitExceeded.Error(), txpool.ErrOutOfCapacity.Error(),
			txpool.ErrInflightTxLimitReached.Error(),
		},
		verdictGap: {
			core.ErrNonceTooHigh.Error(), legacypool.ErrOutOfOrderTxFromDelegated.Error(), legacypool.ErrFutureReplacePending.Error(), "NonceGap",
		},
		verdictReverted: {
			"execution reverted", "execution reverted: ERC20: transfer amount exceeds balance", "VM execution error.",
			"VM Exception while processing transaction: reverted", "execution reverted: rate limit", "execution reverted: batch already known",
			"invalid opcode: INVALID",
		},
		verdictGasLimit: {
			"gas required exceeds allowance (100000)", "Out of gas: gas required exceeds allowance: 100000", "out of gas",
			"Cannot estimate gas, gas spent exceeded transaction and block gas limit",
		},
		verdictLimited: {
			"Too Many Requests", "429 Too Many Requests", "rate limit exceeded", "daily request count exceeded, request rate limited",
			"project ID request rate exceeded", "50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com",
			"Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.",
			"Too many concurrent requests",
		},
		verdictBatchSize: {
			"batch too large", "batch limit 100 exceeded: 142 requests given", "Batch of more than 3 requests are not allowed on free tier",
			"Batch size too large",
		},
		verdictNoState: {
			"missing trie node 0a0b (path ) state 0x1 is not available", "required historical state unavailable (reexec=128)",
			"historical state 0x01 is not available", "state not available", "old data not available due to pruning: pruned",
		},
		verdictUnknownBlock: {"finalized block not found", "safe block not found", "header not found", "Unknown block", "block not found: 0x9"},
		verdictNoMethod: {
			"the method debug_traceBlockByHash does not exist/is not available", "Method not found", "rpc method is not whitelisted",
			"Unsupported method: eth_getBlockReceipts", "this method is not supported", "rpc method is unsupported",
		},
		verdictOther: {"something else", "", txpool.ErrNegativeValue.Error(), "unknown transaction type: 2"},
	}
	for want, texts := range cases {
		for _, text := range texts {
			require.Equal(t, want, classify(fmt.Errorf("node 1: %w", remoteError{-32000, text})), "%q", text)
		}
	}
	require.Equal(t, verdictReverted, classify(remoteError{3, "VM says no"}))
	require.Equal(t, verdictNoMethod, classify(remoteError{-32601, "nope"}))
	for _, err := range []error{io.EOF, context.DeadlineExceeded, rpc.HTTPError{StatusCode: 503}, errTooLarge} {
		require.Equal(t, verdictTransport, classify(err))
	}
}

func TestPlainErrors(t *testing.T) {
	secret := &url.Error{Op: "Post", URL: "https://node/v3/hunter2", Err: io.ErrUnexpectedEOF}
	require.ErrorIs(t, plainError(secret), io.ErrUnexpectedEOF)
	require.NotContains(t, plainError(secret).Error(), "hunter2")
	require.Equal(t, "HTTP status 401 Unauthorized", plainError(rpc.HTTPError{StatusCode: 401, Body: []byte("hunter2")}).Error())
	long := plainError(remoteError{1, strings.Repeat("x\n", 10_000)})
	require.Len(t, long.Error(), maxRemoteText)
	require.NotContains(t, long.Error(), "\n")
	require.Equal(t, errors.ErrUnsupported, plainError(errors.ErrUnsupported))
}

func TestUnavailableKeepsEveryCause(t *testing.T) {
	err := unavailable([]error{io.EOF, ErrWrongChain})
	require.ErrorIs(t, err, io.EOF)
	require.ErrorIs(t, err, ErrWrongChain)
	require.NotContains(t, err.Error(), "\n")
}
