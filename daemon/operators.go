package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/singleflight"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/exchangeapi"
	"gatewayd/gateway"
	"gatewayd/httpserver"
	"gatewayd/internal/database"
	"gatewayd/metrics"
	"gatewayd/operator"
	"gatewayd/operator/console"
	"gatewayd/records"
	"gatewayd/signer/approval"
	"gatewayd/status"
	"gatewayd/web"
)

// Operators is the listener for operators and their tools: /health, /ready, /metrics and the
// console. It is there before the database and the nodes are, and outlives tenures.
type Operators struct {
	Metrics *metrics.Metrics
	ready   *httpserver.Readiness // of all listeners of the process
	server  *httpserver.Server
	guard   *httpserver.Middleware
	log     *logrus.Logger
	bridge  bool // there are networks; false: the exchange API is all that is served
	roles   Roles

	mu       sync.Mutex
	cfg      config.Config // as of the last reload
	why      string        // it does not serve; empty once it does
	store    *records.Store
	leads    *Daemon // nil while another daemon leads
	works    map[chain.ID]bool
	exchange *exchangeapi.Server
	pages    *gateway.Server    // nil without the role api
	health   singleflight.Group // a store that hangs holds one reader
}

// operatorsTime bounds an answer.
const operatorsTime = 5 * time.Second

// NewOperators takes a configuration that has passed Check. demo marks a development environment
// for the console. It starts nothing.
func NewOperators(cfg config.Config, demo bool, log *logrus.Logger) (*Operators, error) {
	section := cfg.Operators.WithDefaults()
	guard, err := httpserver.NewMiddleware(section.Config, time.Now)
	if err != nil {
		return nil, fmt.Errorf("operators: %w", err)
	}
	o := &Operators{Metrics: metrics.New(cfg.Data), ready: httpserver.NewReadiness(), guard: guard, log: log, cfg: cfg, works: map[chain.ID]bool{}, bridge: len(cfg.Networks) > 0, roles: AllRoles, why: "it starts"}
	o.Metrics.Files(databaseFiles(cfg))
	e := echo.New()
	e.Pre(httpserver.Observe(o.Metrics.Requests("operators")), httpserver.RequestID, httpserver.CatchPanics(), httpserver.CleanPath,
		guard.LimitRate(func(time.Duration) error { return echo.ErrTooManyRequests }))
	if !section.Plain {
		e.Pre(guard.OnlyHTTPS(func() error { return echo.NewHTTPError(http.StatusForbidden, "other machines must use HTTPS") }))
	}
	scrape := echo.WrapHandler(o.Metrics.Handler())
	for path, h := range map[string]echo.HandlerFunc{"/health": o.answerHealth, "/ready": o.answerReady, "/metrics": scrape} {
		e.GET(path, h)
		e.HEAD(path, h)
	}
	if o.bridge {
		console.New(console.Parts{Gateway: o.gateway, Site: o.site, Guard: guard, Log: log, Now: time.Now}).Routes(e)
		for path, page := range web.Console(demo) {
			e.GET(path, echo.WrapHandler(page))
			e.HEAD(path, echo.WrapHandler(page))
		}
	}
	o.server, err = httpserver.New(section.Config, httpserver.Parts{Name: "operators", Handler: e, Answer: 2 * operatorsTime, Log: log})
	return o, err
}

// unservedOperators is for a daemon without a listener for operators: its state is set, but never
// served.
func unservedOperators() *Operators {
	return &Operators{Metrics: metrics.New("."), works: map[chain.ID]bool{}, ready: httpserver.NewReadiness(), bridge: true, roles: AllRoles}
}

// listenRetry is the interval at which an address in use is tried again.
const listenRetry = 250 * time.Millisecond

// Serve listens until ctx ends.
func (o *Operators) Serve(ctx context.Context) error { return o.server.Run(ctx) }

// Run listens until ctx ends. Payments do not wait for its address.
func (o *Operators) Run(ctx context.Context) error {
	return serveWhenFree(ctx, o.log, "operators.listen", true, o.Serve)
}

// serveWhenFree serves until ctx ends. One that retries waits for an address that another process
// has, such as the daemon that this one is a standby for. key is the address in the configuration.
func serveWhenFree(ctx context.Context, log *logrus.Logger, key string, retries bool, serve func(context.Context) error) error {
	for logged := false; ; logged = true {
		err := serve(ctx)
		if !retries || !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
		if !logged {
			log.WithError(err).Error(key + ": the address is in use; waiting until it is free, or set another one")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(listenRetry):
		}
	}
}

// Ready waits until it listens.
func (o *Operators) Ready(ctx context.Context) error { return o.server.Ready(ctx) }

// URL returns the listener's URL once it is ready.
func (o *Operators) URL() string { return o.server.URL() }

// setStage sets why this process does not serve yet.
func (o *Operators) setStage(why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.why = why
}

// setStandby is for a store that is open while another daemon may lead.
func (o *Operators) setStandby(store *records.Store) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.why, o.store, o.leads = "", store, nil
}

// setLeader is for a process that has the lease.
func (o *Operators) setLeader(d *Daemon) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.leads = d
}

// setWorks is for a process that works on chains, until the returned function is called.
func (o *Operators) setWorks(ids []chain.ID) (end func()) {
	set := func(works bool) {
		o.mu.Lock()
		defer o.mu.Unlock()
		for _, id := range ids {
			o.works[id] = works
			o.Metrics.Works(id, works)
		}
	}
	set(true)
	return func() { set(false) }
}

// setGateway sets the gateway that this process serves.
func (o *Operators) setGateway(server *gateway.Server) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pages = server
}

// setConfig replaces the configuration.
func (o *Operators) setConfig(cfg config.Config) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cfg = cfg
}

func (o *Operators) config() config.Config {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.cfg
}

// gateway returns the console's data source while the database is open.
func (o *Operators) gateway() (console.Gateway, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store == nil {
		return console.Gateway{}, false
	}
	g := console.Gateway{Session: &operator.Session{Config: o.cfg, Store: o.store}}
	if o.leads != nil {
		g.Session.Store = o.leads.Store
		g.Bridge = &operator.Bridge{Chains: o.leads.Chains, Networks: o.leads.Watcher.Networks}
		g.Guard = o.leads.signer
	}
	return g, true
}

// site is the page that passkeys are for.
func (o *Operators) site() (approval.Site, error) {
	o.mu.Lock()
	section := o.cfg.Operators.WithDefaults()
	o.mu.Unlock()
	return section.Site(o.URL())
}

// setClosed is for a store that is about to be closed.
func (o *Operators) setClosed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.why, o.store, o.leads = "the database is closed: the lease was lost, or the daemon ends", nil, nil
}

// setExchange sets the exchange API; nil is for none.
func (o *Operators) setExchange(x *exchangeapi.Server) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.exchange = x
}

func (o *Operators) answerHealth(c echo.Context) error {
	if x := o.onlyExchange(); x != nil {
		x.Handler().ServeHTTP(c.Response(), c.Request())
		return nil
	}
	h := o.readHealth(c.Request().Context())
	return c.JSON(codeOf(h.Well()), h)
}

// onlyExchange is the exchange API of a process without a bridge; nil of one with a bridge.
func (o *Operators) onlyExchange() *exchangeapi.Server {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bridge {
		return nil
	}
	return o.exchange
}

// operatorsHealth is the health with the processes that work.
type operatorsHealth struct {
	status.Health
	Leases []operator.Lease `json:"leases"`
}

// readHealth answers within operatorsTime, even when the store hangs.
func (o *Operators) readHealth(ctx context.Context) operatorsHealth {
	ctx, cancel := context.WithTimeout(ctx, operatorsTime)
	defer cancel()
	answer := o.health.DoChan("", func() (any, error) { return o.queryHealth() })
	select {
	case r := <-answer:
		if r.Err == nil {
			return r.Val.(operatorsHealth)
		}
	case <-ctx.Done():
	}
	return operatorsHealth{status.DownHealth(), []operator.Lease{}}
}

// errNoStore: the database is not open.
var errNoStore = errors.New("the database is not open")

func (o *Operators) queryHealth() (h operatorsHealth, err error) {
	o.mu.Lock()
	store, cfg := o.store, o.cfg
	o.mu.Unlock()
	if store == nil {
		return h, errNoStore
	}
	ctx, cancel := context.WithTimeout(context.Background(), operatorsTime)
	defer cancel()
	err = store.View(ctx, func(tx *records.Tx) error {
		networks, err := operator.Networks(tx, cfg)
		if err != nil {
			return err
		}
		if h.Health, err = status.ReadHealth(tx, networks); err != nil {
			return err
		}
		h.Leases, err = operator.Leases(tx)
		return err
	})
	return h, err
}

// What a process is now: a standby may lead later, a process of role api never leads.
const (
	roleLeader   = "leader"
	roleWorker   = "worker" // it works on chains, and another one leads
	roleStandby  = "standby"
	roleAPI      = "api"
	roleExchange = "exchange"
)

// readiness is the answer of /ready: whether this process does its work, and the reason if not. A
// standby is ready.
type readiness struct {
	Ready   bool     `json:"ready"`
	Role    string   `json:"role"`
	Reasons []string `json:"reasons"`
	// Chains are those that this process follows and pays on.
	Chains []chain.ID `json:"chains"`
	// Stops are the conditions that block payments, whichever process works: they do not affect
	// readiness.
	Stops []status.Kind `json:"stops"`
}

func (o *Operators) answerReady(c echo.Context) error {
	r := o.readiness(c.Request().Context())
	if !o.ready.Ready("operators " + o.guard.Client(c.Request())) {
		r.Reasons = append(r.Reasons, "the process stops")
	}
	r.Ready = len(r.Reasons) == 0
	return c.JSON(codeOf(r.Ready), r)
}

func (o *Operators) readiness(ctx context.Context) readiness {
	o.mu.Lock()
	why, leads, exchange, pages := o.why, o.leads, o.exchange, o.pages
	works := slices.DeleteFunc(slices.Sorted(maps.Keys(o.works)), func(id chain.ID) bool { return !o.works[id] })
	_, file := database.Path(o.cfg.Database.URL) // a standby on a file serves nothing
	o.mu.Unlock()
	r := readiness{Role: roleStandby, Reasons: []string{}, Chains: append([]chain.ID{}, works...), Stops: []status.Kind{}}
	add := func(is bool, text string) {
		if is {
			r.Reasons = append(r.Reasons, text)
		}
	}
	if !o.bridge {
		r.Role = roleExchange
		add(exchange == nil, "the exchange API is not open yet")
		add(exchange != nil && !exchange.Well(ctx), "the exchange API is behind its node's chain, or its database is down: see /health")
		return r
	}
	if !o.roles.Bridge {
		r.Role = roleAPI
	}
	switch {
	case leads != nil:
		r.Role = roleLeader
	case len(works) > 0:
		r.Role = roleWorker
	}
	add(o.roles.API && (pages == nil || pages.Addr() == "") && (leads != nil || !file), "the gateway does not listen yet")
	if why != "" {
		r.Reasons = append(r.Reasons, why)
		return r
	}
	health := o.readHealth(ctx)
	add(health.Status == status.DownHealth().Status, "the database does not answer")
	for _, c := range health.Reasons {
		r.Stops = append(r.Stops, c.Kind)
	}
	return r
}

func codeOf(well bool) int {
	if well {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

// databaseFiles returns the paths of the other databases, as far as they are files.
func databaseFiles(cfg config.Config) map[string]string {
	list := map[string]string{}
	if !cfg.Wallet.Remote() {
		list["guard"] = GuardPath(cfg)
	}
	if cfg.Exchange != nil {
		for name, url := range map[string]string{"exchange": cfg.Exchange.Index.URL, "keys": cfg.Exchange.Keys} {
			if path, is := database.Path(url); is {
				list[name] = path
			}
		}
	}
	return list
}
