package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/dex"
	"gatewayd/exchangeapi/index"
)

// code is the envelope's code.
type code int

const (
	codeGeneral   code = 1
	codeFrequent  code = 1001 // too many requests
	codeParameter code = 1002 // invalid parameter, signature or timestamp; no permission for the pair
	codeNetwork   code = 1003 // the chain: no quota, no answer
	codeFailed    code = 1004 // an order's status or owner forbids it
	codeService   code = 1005 // our fault
	codeMinimum   code = 1006 // below the least amount of the market
	codeFunds     code = 1007 // too little on the exchange
)

// Texts that clients look for, or that the samples have.
const (
	textSymbol     = "Invalid symbol"
	textSignature  = "Invalid signature"
	textTimestamp  = "Invalid timestamp"
	textFrequent   = "Too frequent request"
	textQuota      = "out of quota"
	textTerminated = "The order status has been terminated"
	textForeign    = "Order does not belong to the account"
	textMinimum    = "Minimum order amount not satisfied"
	textFunds      = "Insufficient exchange balance"
)

// refusal is an answer without success: the one error that clients see.
type refusal struct {
	code
	msg   string
	http  int           // status; 0 is 200, which every answer with a code of its own has: bots take any other for a broken line
	retry time.Duration // when asking again makes sense; zero for never or not known
	cause error         // for the log only
}

func refuse(c code, format string, args ...any) *refusal {
	return &refusal{code: c, msg: fmt.Sprintf(format, args...)}
}

func (r *refusal) because(cause error) *refusal {
	r.cause = cause
	return r
}

func (r *refusal) status() int {
	if r.http != 0 {
		return r.http
	}
	return http.StatusOK
}

func (r *refusal) Error() string {
	if r.cause != nil {
		return fmt.Sprintf("%s: %v", r.msg, r.cause)
	}
	return r.msg
}

func (r *refusal) Unwrap() error { return r.cause }

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// refusalOf turns any error into what clients may see of it.
func refusalOf(err error) *refusal {
	var r *refusal
	var h *echo.HTTPError
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, index.ErrUnknownMarket):
		return refuse(codeGeneral, textSymbol)
	case errors.As(err, &h):
		return refusalOfEcho(h)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return refuse(codeNetwork, "The request took too long").because(err)
	}
	r = refuse(codeService, "Service error").because(err)
	r.http = http.StatusInternalServerError
	return r
}

func refusalOfEcho(h *echo.HTTPError) *refusal {
	r := refuse(codeGeneral, "%s", http.StatusText(h.Code))
	r.http = h.Code
	if h.Code >= http.StatusInternalServerError {
		r.code, r.cause = codeService, h
	}
	return r
}

// nodeTexts are the exchange's own words and what they are to a client (docs/exchange-rules.md 1.2).
func nodeTexts() []struct {
	text string
	code code
	msg  string
} {
	return []struct {
		text string
		code code
		msg  string
	}{
		{dex.ErrTooSmall.Error(), codeMinimum, textMinimum},
		{dex.ErrFunds.Error(), codeFunds, textFunds},
		{"trade market not exists", codeParameter, textSymbol},
		{"invalid token pair", codeParameter, textSymbol},
		{"trade market stopped", codeParameter, "The market is stopped"},
		{"dex stopped", codeParameter, "The exchange is stopped"},
		{"trade market not granted", codeParameter, "No permission"},
		{"invalid order price format", codeParameter, "Invalid price"},
		{"invalid order quantity", codeParameter, "Invalid amount"},
		{"order to cancel not own to initiator", codeFailed, textForeign},
		{"order not exists", codeFailed, textTerminated},
		{"invalid order hash", codeFailed, textTerminated},
		{"order status is invalid to cancel", codeFailed, textTerminated},
		{"out of quota", codeNetwork, textQuota},
		{"quota limit for", codeNetwork, textQuota},
	}
}

// refusalOfNode turns the exchange chain's answer into a client's; whatever is not known by its words is a problem of the network.
func refusalOfNode(err error) error {
	var said *client.Error
	if errors.Is(err, client.ErrOutOfQuota) || errors.Is(err, client.ErrQuotaLimit) {
		return refuse(codeNetwork, textQuota).because(err)
	}
	if errors.As(err, &said) {
		for _, known := range nodeTexts() {
			if strings.Contains(said.Message, known.text) {
				return refuse(known.code, "%s", known.msg).because(err)
			}
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return refuse(codeNetwork, "The exchange chain did not take the request").because(err)
}
