package gateway

import (
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/time/rate"

	"gatewayd/httpserver"
	"gatewayd/records"
)

// bindingLimits bounds new inbound addresses and labels: each is watched permanently. Clients and
// sites are counted by each replica, in bounded memory; the gateway as one by its records.
type bindingLimits struct {
	clients, sites *httpserver.Limit
	perDay         atomic.Int64
	now            func() time.Time
	log            *logrus.Logger
	warned         rate.Sometimes // for the limit of the complete gateway
}

func newBindingLimits(cfg Config, now func() time.Time, log *logrus.Logger) *bindingLimits {
	n := &bindingLimits{clients: httpserver.NewLimit(0, 0, now), sites: httpserver.NewLimit(0, 0, now), now: now, log: log, warned: rate.Sometimes{Interval: time.Hour}}
	n.change(cfg)
	return n
}

// change sets new limits. A changed limit of clients resets the count of every client.
func (n *bindingLimits) change(cfg Config) {
	n.clients.Change(float64(cfg.NewBindingsPerHour)/time.Hour.Seconds(), cfg.NewBindingsPerHour)
	n.sites.Change(float64(cfg.NewBindingsPerSite)/time.Hour.Seconds(), cfg.NewBindingsPerSite)
	n.perDay.Store(int64(cfg.NewBindingsPerDay))
}

// count counts a new user and returns the client's waiting time; 0 when it may continue. A client
// that is refused does not use up the site's limit.
func (n *bindingLimits) count(client string) time.Duration {
	if wait := n.clients.Take(client); wait > 0 {
		return wait
	}
	return n.sites.Take(httpserver.SiteOf(client))
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
