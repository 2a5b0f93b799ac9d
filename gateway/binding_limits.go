package gateway

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/time/rate"

	"gatewayd/httpserver"
	"gatewayd/records"
)

// bindingLimits bounds new inbound addresses and labels: each is watched permanently. All processes
// on one server's records count together.
type bindingLimits struct {
	clients, sites *httpserver.SharedLimit
	perDay         atomic.Int64
	now            func() time.Time
	log            *logrus.Logger
	warned         rate.Sometimes // for the limit of the complete gateway
}

func newBindingLimits(cfg Config, now func() time.Time, log *logrus.Logger) *bindingLimits {
	hourly := func(name string, most int) *httpserver.SharedLimit {
		return httpserver.NewSharedLimit(name, time.Hour/time.Duration(most), most, now)
	}
	n := &bindingLimits{
		clients: hourly("bindings", cfg.NewBindingsPerHour), sites: hourly("bindings of a site", cfg.NewBindingsPerSite),
		now: now, log: log, warned: rate.Sometimes{Interval: time.Hour},
	}
	n.perDay.Store(int64(cfg.NewBindingsPerDay))
	return n
}

// change sets new limits. A changed limit of clients resets this process's count of every client.
func (n *bindingLimits) change(cfg Config) {
	n.clients.Change(time.Hour/time.Duration(cfg.NewBindingsPerHour), cfg.NewBindingsPerHour)
	n.sites.Change(time.Hour/time.Duration(cfg.NewBindingsPerSite), cfg.NewBindingsPerSite)
	n.perDay.Store(int64(cfg.NewBindingsPerDay))
}

// count counts a new user and returns the client's waiting time; 0 when it may continue. A client
// that is refused does not use up the site's limit.
func (n *bindingLimits) count(ctx context.Context, all store, client string) (time.Duration, error) {
	if wait, err := n.clients.Take(ctx, all, client); wait > 0 || err != nil {
		return wait, err
	}
	return n.sites.Take(ctx, all, httpserver.SiteOf(client))
}

// checkDay refuses every new user once the day's limit is reached.
func (n *bindingLimits) checkDay(tx *records.Tx) error {
	perDay := int(n.perDay.Load())
	next, err := tx.Bindings().Next(perDay, BindingsSpan)
	if err != nil {
		return err
	}
	wait := next.Sub(n.now())
	if wait <= 0 {
		return nil
	}
	n.warned.Do(func() {
		n.log.WithFields(logrus.Fields{"new_bindings_per_day": perDay, "until": next.UTC().Format(time.RFC3339)}).
			Warn("no new deposit addresses: the daily limit is reached")
	})
	return refuseUntil(bindingsFull, wait)
}

// BindingsSpan is the period of NewBindingsPerDay.
const BindingsSpan = 24 * time.Hour
