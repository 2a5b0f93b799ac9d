package ethereum

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
)

// verdict is the meaning of a node's refusal. It determines the next question, never whether money
// moved.
type verdict string

const (
	verdictOther        verdict = "refused"
	verdictTransport    verdict = "no answer"
	verdictKnown        verdict = "already known"
	verdictNonceUsed    verdict = "nonce already used"
	verdictReplaceFee   verdict = "fee too low to replace"
	verdictLowFee       verdict = "fee too low"
	verdictUnfunded     verdict = "not enough coins"
	verdictPoolFull     verdict = "no room in the pool"
	verdictGap          verdict = "an earlier nonce is missing"
	verdictReverted     verdict = "reverted"
	verdictGasLimit     verdict = "more gas than it may use"
	verdictNoMethod     verdict = "method not offered"
	verdictNoState      verdict = "state not kept"
	verdictUnknownBlock verdict = "block not known"
	verdictLimited      verdict = "too many requests"
	verdictBatchSize    verdict = "too many requests in one"
)

// errorPattern is a part of a client's error text. Texts are lower case.
type errorPattern struct {
	text    string
	verdict verdict
}

// errorPatterns lists the clients' texts; the first match decides, so narrower patterns precede
// wider ones. A contract's revert reason follows the first three, and must not be mistaken for the
// node's own words.
var errorPatterns = []errorPattern{
	{"execution reverted", verdictReverted},
	{"vm execution error", verdictReverted}, // nethermind, parity
	{"vm exception", verdictReverted},       // hardhat, ganache
	{"batch", verdictBatchSize},             // geth "batch too large", erigon "batch limit 100 exceeded", dRPC "batch of more than 3 requests"
	{"too many requests", verdictLimited},
	{"rate limit", verdictLimited}, // Infura, and most others
	{"ratelimit", verdictLimited},
	{"request limit reached", verdictLimited},    // QuickNode: "50/second request limit reached"
	{"compute units per second", verdictLimited}, // Alchemy
	{"request count exceeded", verdictLimited},   // Infura, for the day
	{"request rate exceeded", verdictLimited},
	{"too many concurrent requests", verdictLimited},
	{"already known", verdictKnown},              // geth, erigon, reth
	{"alreadyknown", verdictKnown},               // nethermind
	{"unknown transaction", verdictOther},        // a type that the node does not take
	{"known transaction", verdictKnown},          // besu, old geth
	{"already imported", verdictKnown},           // anvil, parity
	{"existing tx with same hash", verdictKnown}, // erigon
	{"already in mempool", verdictKnown},         // proxies
	{"replacement transaction underpriced", verdictReplaceFee},
	{"replacementnotallowed", verdictReplaceFee},      // nethermind
	{"could not replace existing", verdictReplaceFee}, // erigon
	{"nonce too low", verdictNonceUsed},
	{"nonce is too low", verdictNonceUsed},
	{"oldnonce", verdictNonceUsed},                    // nethermind
	{"nonce has already been used", verdictNonceUsed}, // proxies
	{"nonce too high", verdictGap},
	{"noncegap", verdictGap}, // nethermind
	{"nonce gap", verdictGap},
	{"gapped-nonce", verdictGap}, // geth, delegated accounts
	{"future transaction", verdictGap},
	{"txpool is full", verdictPoolFull},
	{"account limit exceeded", verdictPoolFull},
	{"out of capacity", verdictPoolFull},
	{"transaction limit reached", verdictPoolFull}, // geth, delegated accounts
	{"pool overflow", verdictPoolFull},
	{"transaction underpriced", verdictLowFee},
	{"gas price below minimum", verdictLowFee},
	{"block base fee", verdictLowFee}, // "max fee per gas less than block base fee"
	{"feetoolow", verdictLowFee},      // nethermind
	{"fee too low", verdictLowFee},
	{"gas price too low", verdictLowFee},
	{"below configured minimum", verdictLowFee}, // besu
	{"underpriced", verdictLowFee},
	{"insufficient funds", verdictUnfunded},
	{"insufficientfunds", verdictUnfunded},    // nethermind
	{"upfront cost exceeds", verdictUnfunded}, // besu
	{"gas required exceeds", verdictGasLimit}, // geth, erigon, reth, anvil
	{"gas spent exceeded", verdictGasLimit},   // nethermind
	{"out of gas", verdictGasLimit},
	{"invalid opcode", verdictReverted},
	{"missing trie node", verdictNoState},
	{"historical state", verdictNoState}, // geth: "historical state ... is not available"
	{"state is not available", verdictNoState},
	{"state not available", verdictNoState},
	{"state unavailable", verdictNoState},
	{"pruned", verdictNoState}, // erigon, reth
	{"finalized block not found", verdictUnknownBlock},
	{"safe block not found", verdictUnknownBlock},
	{"header not found", verdictUnknownBlock},
	{"unknown block", verdictUnknownBlock},
	{"block not found", verdictUnknownBlock},
	{"does not exist/is not available", verdictNoMethod}, // geth
	{"method not found", verdictNoMethod},
	{"method is not", verdictNoMethod}, // "... whitelisted", "... available", "... supported"
	{"unsupported method", verdictNoMethod},
	{"method not supported", verdictNoMethod},
	{"rpc method is unsupported", verdictNoMethod},
}

const (
	codeReverted = 3 // eth_call and eth_estimateGas
	codeNoMethod = -32601
	codeLimited  = -32005 // EIP-1474; public nodes of BNB Smart Chain only return "limit exceeded"
)

// classify reads a node's error. It is the only place that matches the text of other people's
// programs.
func classify(err error) verdict {
	if err == nil {
		return verdictOther
	}
	var remote rpc.Error
	if !errors.As(err, &remote) {
		return classifyTransport(err)
	}
	if remote.ErrorCode() == codeReverted {
		return verdictReverted
	}
	text := strings.ToLower(remote.Error())
	for _, w := range errorPatterns {
		if strings.Contains(text, w.text) {
			return w.verdict
		}
	}
	switch remote.ErrorCode() {
	case codeNoMethod:
		return verdictNoMethod
	case codeLimited, http.StatusTooManyRequests:
		return verdictLimited
	}
	return verdictOther
}

// classifyTransport reads an error that is no JSON-RPC answer.
func classifyTransport(err error) verdict {
	var status rpc.HTTPError
	switch {
	case errors.Is(err, chain.ErrLimited), errors.As(err, &status) && status.StatusCode == http.StatusTooManyRequests:
		return verdictLimited
	case strings.Contains(err.Error(), "HTTP status 429"): // the RPC client's words for a WebSocket that was not opened
		return verdictLimited
	case errors.Is(err, errBatchSize), strings.Contains(err.Error(), "HTTP status 413"):
		return verdictBatchSize
	}
	return verdictTransport
}

// htmlAnswer is a page for people where JSON was asked for, as load balancers and their error pages
// answer.
type htmlAnswer struct{ status int }

func (e htmlAnswer) Error() string {
	return fmt.Sprintf("answers HTML instead of JSON (HTTP status %d)", e.status)
}

// errNotJSON is another text where JSON was asked for.
var errNotJSON = errors.New("answers something other than JSON")

func isNotJSON(err error) bool {
	var syntax *json.SyntaxError
	return errors.Is(err, errNotJSON) || errors.As(err, &syntax) && syntax.Offset <= 1
}

// remoteError is a node's refusal with the text cut to what a log line bears.
type remoteError struct {
	code int
	text string
}

func (e remoteError) Error() string  { return e.text }
func (e remoteError) ErrorCode() int { return e.code }

const maxRemoteText = 200

// plainError removes from an error everything that must not reach a log: addresses of nodes, which
// may contain keys, and complete answers.
func plainError(err error) error {
	var remote rpc.Error
	if errors.As(err, &remote) {
		return remoteError{remote.ErrorCode(), printable(remote.Error())}
	}
	var status rpc.HTTPError
	if errors.As(err, &status) && status.StatusCode == http.StatusTooManyRequests {
		return fmt.Errorf("%w: HTTP status %d %s", chain.ErrLimited, status.StatusCode, http.StatusText(status.StatusCode))
	}
	if errors.As(err, &status) {
		return httpStatus(status.StatusCode)
	}
	var page htmlAnswer
	if errors.As(err, &page) {
		return page
	}
	if isNotJSON(err) {
		return errNotJSON
	}
	var address *url.Error
	if errors.As(err, &address) {
		return address.Err
	}
	return err
}

// printable is a text of at most maxRemoteText bytes on one line.
func printable(text string) string {
	text = text[:min(len(text), maxRemoteText)]
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
