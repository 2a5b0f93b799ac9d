package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/exchangeapi/index"
	"gatewayd/httpserver"
	"gatewayd/vite/client"
	"gatewayd/vite/dex"
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

// Texts that clients search for, or that the samples contain.
const (
	textSymbol     = "Invalid symbol"
	textSignature  = "Invalid signature"
	textTimestamp  = "Invalid timestamp"
	textFrequent   = "Too frequent request"
	textQuota      = "out of quota"
	textTerminated = "The order status has been terminated"
	textNotOwner   = "Order does not belong to the account"
	textMinimum    = "Minimum order amount not satisfied"
	textFunds      = "Insufficient exchange balance"
)

// apiError is an answer without success: the one error that clients see.
type apiError struct {
	code
	msg string
	// status; 0 is 200, which every answer with a code of its own has: bots treat any other as a
	// connection fault
	http  int
	retry time.Duration // when asking again makes sense; zero for never or not known
	cause error         // for the log only
}

func reject(c code, format string, args ...any) *apiError {
	return &apiError{code: c, msg: fmt.Sprintf(format, args...)}
}

func (r *apiError) because(cause error) *apiError {
	r.cause = cause
	return r
}

func (r *apiError) status() int {
	if r.http != 0 {
		return r.http
	}
	return http.StatusOK
}

func (r *apiError) Error() string {
	if r.cause != nil {
		return fmt.Sprintf("%s: %v", r.msg, r.cause)
	}
	return r.msg
}

func (r *apiError) Unwrap() error { return r.cause }

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// apiErrorOf turns any error into what clients may see of it.
func apiErrorOf(err error) *apiError {
	var r *apiError
	var h *echo.HTTPError
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, index.ErrUnknownMarket):
		return reject(codeGeneral, textSymbol)
	case errors.As(err, &h):
		return echoError(h)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return reject(codeNetwork, "The request took too long").because(err)
	}
	r = reject(codeService, "Service error").because(err)
	r.http = http.StatusInternalServerError
	return r
}

func echoError(h *echo.HTTPError) *apiError {
	r := reject(codeGeneral, "%s", http.StatusText(h.Code))
	r.http = h.Code
	if h.Code >= http.StatusInternalServerError {
		r.code, r.cause = codeService, h
	}
	return r
}

// nodeTexts are the exchange's own words and what they are to a client (docs/exchange-rest.md
// 1.2).
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
		{"order to cancel not own to initiator", codeFailed, textNotOwner},
		{"order not exists", codeFailed, textTerminated},
		{"invalid order hash", codeFailed, textTerminated},
		{"order status is invalid to cancel", codeFailed, textTerminated},
		{"out of quota", codeNetwork, textQuota},
		{"quota limit for", codeNetwork, textQuota},
	}
}

// nodeError turns the exchange chain's answer into a client's; whatever is not known by its words
// is a problem of the network.
func nodeError(err error) error {
	var said *client.Error
	if errors.Is(err, client.ErrOutOfQuota) || errors.Is(err, client.ErrQuotaLimit) {
		return reject(codeNetwork, textQuota).because(err)
	}
	if errors.As(err, &said) {
		for _, known := range nodeTexts() {
			if strings.Contains(said.Message, known.text) {
				return reject(known.code, "%s", known.msg).because(err)
			}
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return reject(codeNetwork, "The exchange chain did not take the request").because(err)
}

// onError handles every failed request: the client gets code and text, the log gets the cause.
func (s *Server) onError(err error, c echo.Context) {
	r := apiErrorOf(err)
	s.logCause(c, r)
	if c.Response().Committed {
		return
	}
	if r.retry > 0 {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(seconds(r.retry)))
	}
	out := envelope{Code: int(r.code), Msg: r.msg}
	if r.code == codeGeneral {
		out.Data = struct{}{} // the public sample of this code has an empty object, those of the others null
	}
	if err := c.JSON(r.status(), out); err != nil {
		s.Log.WithError(err).Debug("answering an exchange request")
	}
}

// logCause writes what the client does not see. A client that hung up is no fault of ours.
func (s *Server) logCause(c echo.Context, r *apiError) {
	if r.cause == nil {
		return
	}
	level := logrus.WarnLevel
	switch {
	case errors.Is(r.cause, context.Canceled):
		level = logrus.DebugLevel
	case r.code == codeService:
		level = logrus.ErrorLevel
	}
	e := s.Log.WithFields(logrus.Fields{"request": httpserver.IDOf(c), "path": c.Request().URL.Path, "code": int(r.code)}).WithError(r.cause)
	s.faults.Write(e, level, "exchange request")
}
