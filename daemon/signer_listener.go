package daemon

import (
	"fmt"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/httpserver"
	"gatewayd/metrics"
	"gatewayd/status"
)

// signerListener is the signer's listener for operators: /health, /ready and /metrics. Nothing can
// be signed or changed through it.
type signerListener struct {
	metrics *metrics.Metrics
	server  *httpserver.Server

	mu   sync.Mutex
	role string // roleSigner, or roleStandby while another signer has the sign-guard
	why  string // nothing can be signed; empty while this signer or another one signs
}

// roleSigner is the role of the signer that has the sign-guard.
const roleSigner = "signer"

// newSignerListener makes the listener at signer.metrics. Without an address the state is not
// served.
func newSignerListener(cfg config.Config, log *logrus.Logger) (*signerListener, error) {
	l := &signerListener{metrics: metrics.NewSigner(cfg.Data), role: roleStandby, why: "the sign-guard is being opened"}
	if cfg.Signer.Metrics == "" {
		return l, nil
	}
	section := config.Operators{}.WithDefaults().Config
	section.Listen = cfg.Signer.Metrics
	guard, err := httpserver.NewMiddleware(section, time.Now)
	if err != nil {
		return nil, fmt.Errorf("signer.metrics: %w", err)
	}
	e := echo.New()
	e.Pre(httpserver.Observe(l.metrics.Requests("signer")), httpserver.CatchPanics(), httpserver.CleanPath,
		guard.LimitRate(func(time.Duration) error { return echo.ErrTooManyRequests }))
	for path, h := range map[string]echo.HandlerFunc{"/health": l.answer, "/ready": l.answer, "/metrics": echo.WrapHandler(l.metrics.Handler())} {
		e.GET(path, h)
		e.HEAD(path, h)
	}
	l.server, err = httpserver.New(section, httpserver.Parts{Name: "signer metrics", Handler: e, Answer: operatorsTime, Log: log})
	return l, err
}

// set sets the state: the role, and why nothing can be signed.
func (l *signerListener) set(role, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.role, l.why = role, why
	l.metrics.Signs(role == roleSigner)
}

// answer returns whether this signer does its work. A standby is ready.
func (l *signerListener) answer(c echo.Context) error {
	l.mu.Lock()
	r := readiness{Ready: l.why == "", Role: l.role, Reasons: []string{}, Chains: []chain.ID{}, Stops: []status.Kind{}}
	if l.why != "" {
		r.Reasons = []string{l.why}
	}
	l.mu.Unlock()
	return c.JSON(codeOf(r.Ready), r)
}
