package ethereum

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/rpc"
)

// httpStatus is an HTTP answer that is no JSON-RPC answer.
type httpStatus int

func (s httpStatus) Error() string {
	return fmt.Sprintf("HTTP status %d %s", int(s), http.StatusText(int(s)))
}

// refusedMethods are texts by which providers refuse a method that the plan or the endpoint does
// not include. Lower case.
var refusedMethods = []string{
	"unauthorized", "not authorized", "not allowed", "forbidden", "access denied", "permission denied", "upgrade", "not included",
	"not enabled", "disabled", "not supported", "not available on", "not offered", "restricted",
}

// Codes of EIP-1474 that do not depend on the text.
const (
	codeNotFound    = -32001 // a resource
	codeUnavailable = -32002 // a resource
	codeUnsupported = -32004 // a method
)

// notOffered reports whether a node refuses a method as such: it does not know it, or does not let
// this client call it. It is asked only about methods that the adapter can do without, because a
// denial may concern the client, too.
func notOffered(err error) bool {
	var status httpStatus
	if errors.As(err, &status) {
		return status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
	}
	var remote rpc.Error
	if !errors.As(err, &remote) {
		return false
	}
	switch classify(err) {
	case verdictNoMethod:
		return true
	case verdictOther:
		text := strings.ToLower(remote.Error())
		return remote.ErrorCode() == codeUnsupported || slices.ContainsFunc(refusedMethods, func(d string) bool { return strings.Contains(text, d) })
	}
	return false
}

// lacksState reports whether a node no longer has what an answer about an old block needs.
func lacksState(err error) bool {
	var remote rpc.Error
	if !errors.As(err, &remote) {
		return false
	}
	v := classify(err)
	return v == verdictNoState || v == verdictOther && (remote.ErrorCode() == codeNotFound || remote.ErrorCode() == codeUnavailable)
}
