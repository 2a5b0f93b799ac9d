// Package console is the API of the operators' console: JSON over HTTP on the operators' listener,
// below /console/api. People sign in with a password and a code of their authenticator, and have
// the commands' functions, under their names. It has no key and pays nothing by hand.
package console

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/signer/approval"
	"gatewayd/transfers"
	"gatewayd/watcher/recovery"
)

// Gateway is a running daemon's database, chains and networks. Bridge is nil in a process that
// does not lead.
type Gateway struct {
	Session *operator.Session
	Bridge  *operator.Bridge
	Guard   recovery.Guard // the sign-guard, wherever it is; nil with Bridge
}

// Parts are a Console's dependencies.
type Parts struct {
	Gateway func() (Gateway, bool) // false: the database is not open
	Site    func() (approval.Site, error)
	Guard   *httpserver.Middleware // who asks, and whether anybody can read along
	Log     *logrus.Logger
	Now     func() time.Time
}

// Console answers people. It is safe for concurrent use.
type Console struct {
	Parts
	faults *httpserver.FaultLog
	tries  *httpserver.SharedLimit // to sign in, by name and by client
	calm   chan struct{}           // room for passwords that are looked at at once: each takes 19 MB

	verifies chan struct{} // room for one who reads all of the history
	profiles chan struct{} // capacity 1: held by the one CPU profile at a time
}

// Tries to sign in that a name, and a client, have: so many at once, then one in ten seconds.
const (
	signInBurst = 10
	signInEvery = 10 * time.Second
	signIns     = 2
)

// Root is the console's path. Cookies are restricted to it.
const Root = "/console"

// maxBody bounds a request.
const maxBody = 16 << 10

// New makes a console that has no routes yet.
func New(p Parts) *Console {
	return &Console{
		Parts: p, faults: httpserver.NewFaultLog(p.Now), tries: httpserver.NewSharedLimit("sign-in", signInEvery, signInBurst, p.Now),
		calm: make(chan struct{}, signIns), verifies: make(chan struct{}, 1), profiles: make(chan struct{}, 1),
	}
}

// Routes puts the console on a server.
func (c *Console) Routes(e *echo.Echo) {
	api := e.Group(Root+"/api", c.private)
	api.POST("/sign-in", c.signIn)
	api.POST("/sign-in/passkey/challenge", c.askPasskey)
	api.POST("/sign-in/passkey", c.signInByPasskey)
	api.POST("/sign-out", c.signed(c.signOut, ""))
	for path, read := range map[string]action{
		"/me": c.me, "/overview": c.overview, "/attention": c.attention, "/series": c.series, "/records": c.records, "/records/:name": c.record, "/channels": c.channels, "/accounts": c.accounts,
		"/balances": c.balances, "/history": c.history, "/history/verify": c.verifyHistory, "/nodes": c.nodes, "/tokens": c.tokens, "/limits": c.limits, "/moves": c.moves,
		"/passkeys": c.passkeys, "/approvals": c.approvals, "/configuration": c.configuration,
	} {
		api.GET(path, c.signed(read, ""))
	}
	api.GET("/profile/:name", c.signed(c.profile, records.Operator))
	api.POST("/records/:id/settle", c.signed(c.settle, records.Operator))
	api.POST("/accounts/:chain/:account/stop", c.signed(c.stopAccount, records.Operator))
	api.POST("/accounts/:chain/:account/resume", c.signed(c.resumeAccount, records.Operator))
	api.POST("/chains/:chain/resume", c.signed(c.resumeChain, records.Operator))
	api.POST("/chains/:chain/rescan", c.signed(c.rescan, records.Operator))
	api.POST("/configuration/reload", c.signed(c.reload, records.Operator))
	api.POST("/records/:id/:order", c.signed(c.orderRecord, records.Operator))
	api.POST("/passkeys/challenge", c.signed(c.createPasskey, ""))
	api.POST("/passkeys", c.signed(c.addPasskey, ""))
	api.POST("/passkeys/:id/remove", c.signed(c.removePasskey, ""))
	api.POST("/approvals/:id/challenge", c.signed(c.askApproval, records.Approver))
	api.POST("/approvals/:id/reject", c.signed(c.reject, records.Approver))
	api.POST("/approvals/:id", c.signed(c.approve, records.Approver))
	api.POST("/channels/:network/:token/:direction", c.signed(c.setChannel, records.Operator))
	api.Any("/*", func(echo.Context) error { return refusal(http.StatusNotFound, "the console has no such page") })
}

// private keeps the console's answers away from others: from caches, from readers on the way and
// from pages of other origins.
func (c *Console) private(next echo.HandlerFunc) echo.HandlerFunc {
	return func(x echo.Context) error {
		h, r := x.Response().Header(), x.Request()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		r.Body = http.MaxBytesReader(x.Response(), r.Body, maxBody)
		var err error
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case !c.Guard.Secure(r):
			err = refusal(http.StatusForbidden, "the console requires HTTPS, except from this machine")
		case site != "" && site != "same-origin" && site != "none":
			err = refusal(http.StatusForbidden, "the console accepts requests of its own pages only")
		default:
			err = next(x)
		}
		return c.answerError(x, err)
	}
}

// fault is an error with a status code and a text for the user.
type fault struct {
	code int
	text string
}

func (f fault) Error() string { return f.text }

func refusal(code int, text string) error { return fault{code, text} }

// answerError writes errors in the console's own form: {"error": "..."}.
func (c *Console) answerError(x echo.Context, err error) error {
	var f fault
	var usage operator.UsageError
	switch {
	case err == nil || x.Response().Committed || x.Request().Context().Err() != nil: // the client has gone
		return nil
	case errors.As(err, &f):
	case errors.As(err, &usage):
		f = fault{http.StatusBadRequest, err.Error()}
	case errors.Is(err, records.ErrNotFound):
		f = fault{http.StatusNotFound, "there is no such record"}
	case errors.Is(err, transfers.ErrNothingToDo), errors.Is(err, records.ErrConflict), errors.Is(err, recovery.ErrNotAtRest), errors.Is(err, recovery.ErrForked),
		errors.Is(err, operator.ErrNoDaemon), errors.Is(err, operator.ErrUnreadable), errors.Is(err, operator.ErrTooMany), errors.Is(err, operator.ErrNotVerified):
		text := strings.TrimPrefix(operator.PlainError(err).Error(), transfers.ErrNothingToDo.Error()+": ") // the rest is a complete sentence
		f = fault{http.StatusConflict, c.inWholeUnits(text)}
	case errors.Is(err, chain.ErrUnavailable):
		f = fault{http.StatusServiceUnavailable, operator.PlainError(err).Error()}
	default:
		c.faults.Write(c.Log.WithError(err).WithFields(logrus.Fields{"path": x.Path(), "request": httpserver.IDOf(x)}), logrus.ErrorLevel, "the console could not answer")
		f = fault{http.StatusInternalServerError, "the request failed; see the daemon's log"}
	}
	return x.JSON(f.code, map[string]string{"error": f.text})
}

// inWholeUnits converts the amounts in a text to whole units.
func (c *Console) inWholeUnits(text string) string {
	if g, ok := c.Gateway(); ok {
		return g.Session.Config.InWholeUnits(text)
	}
	return text
}

// gateway is the daemon's, or an error while there is none.
func (c *Console) gateway() (Gateway, error) {
	g, ok := c.Gateway()
	if !ok {
		return g, refusal(http.StatusServiceUnavailable, "the database is not open: try again later")
	}
	return g, nil
}
