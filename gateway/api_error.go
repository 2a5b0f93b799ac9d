package gateway

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// fault is the subCode of an answer without success. Its thousands are the envelope's code: 1 the
// request is wrong, 2 the gateway cannot. docs/gateway-api.md lists them for wallets; a test holds
// both lists together.
type fault int

const (
	parameterMissing  fault = 1001
	parameterRepeated fault = 1002
	parameterTooLong  fault = 1003
	queryMalformed    fault = 1004
	tokenUnknown      fault = 1010
	walletInvalid     fault = 1011
	walletOurs        fault = 1012
	amountFormat      fault = 1020
	amountTooLarge    fault = 1021
	flagFormat        fault = 1023
	numberFormat      fault = 1030
	tooManyRequests   fault = 1040
	pathUnknown       fault = 1050
	methodUnknown     fault = 1051
	httpsWanted       fault = 1052
	internal          fault = 2001
	busy              fault = 2002
	depositClosed     fault = 2010
	tooManyBindings   fault = 2011
	bindingsFull      fault = 2012
	withdrawMaintain  fault = 2020
	withdrawClosed    fault = 2021
	feeUnknown        fault = 2030
)

// faultTexts is the key of each fault's text in the catalogue.
var faultTexts = map[fault]string{
	parameterMissing: "parameter_missing", parameterRepeated: "parameter_repeated", parameterTooLong: "parameter_too_long",
	queryMalformed: "query_malformed", tokenUnknown: "token_unknown", walletInvalid: "wallet_invalid", walletOurs: "wallet_ours",
	amountFormat: "amount_format", amountTooLarge: "amount_too_large", flagFormat: "flag_format",
	numberFormat: "number_format", tooManyRequests: "too_many_requests", tooManyBindings: "too_many_bindings", bindingsFull: "bindings_full",
	pathUnknown: "path_unknown", methodUnknown: "method_unknown", httpsWanted: "https_wanted", internal: "internal", busy: "busy",
	depositClosed: "deposit_closed", withdrawMaintain: "withdraw_maintain", withdrawClosed: "withdraw_closed", feeUnknown: "fee_unknown",
}

func (f fault) code() int { return int(f) / 1000 }

// status is 200 for everything a wallet can cause on a right path: Android and web lose the message
// of any other (docs/gateway-clients.md 3).
func (f fault) status() int {
	switch f {
	case pathUnknown:
		return http.StatusNotFound
	case methodUnknown:
		return http.StatusMethodNotAllowed
	case httpsWanted:
		return http.StatusForbidden
	}
	return http.StatusOK
}

// refusal is an answer without success: the one error that users see.
type refusal struct {
	fault
	args  []string      // placeholders and values of the text
	retry time.Duration // when asking again makes sense; zero for never or not known
	cause error         // for the log only
}

// refuse answers with a fault, args being placeholders of its text and their values.
func refuse(f fault, args ...string) *refusal { return &refusal{fault: f, args: args} }

// refuseUntil answers with a fault that passes after a while.
func refuseUntil(f fault, retry time.Duration) *refusal {
	return &refusal{fault: f, retry: retry, args: []string{"{seconds}", strconv.Itoa(seconds(retry))}}
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

func (r *refusal) Error() string {
	if r.cause != nil {
		return fmt.Sprintf("%s: %v", faultTexts[r.fault], r.cause)
	}
	return faultTexts[r.fault]
}

func (r *refusal) Unwrap() error { return r.cause }

// refusalOf turns any error into what users may see of it.
func refusalOf(err error) *refusal {
	var r *refusal
	var h *echo.HTTPError
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &h) && h.Code == http.StatusNotFound:
		return refuse(pathUnknown)
	case errors.As(err, &h) && h.Code == http.StatusMethodNotAllowed:
		return refuse(methodUnknown)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &refusal{fault: busy, cause: err}
	}
	return &refusal{fault: internal, cause: err}
}
