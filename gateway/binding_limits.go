package gateway

import (
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/time/rate"

	"gatewayd/httpserver"
	"gatewayd/records"
)

// bindingLimits bounds who may take a new inbound address or label: each is watched for ever. Clients and sites are counted by each replica, in
// bounded memory; the whole gateway by its records.
type bindingLimits struct {
	clients, sites *httpserver.Limit
	perDay         atomic.Int64
	now            func() time.Time
	log            *logrus.Logger
	warned         rate.Sometimes // of the whole gateway's bound
}

func newBindingLimits(cfg Config, now func() time.Time, log *logrus.Logger) *bindingLimits {
	n := &bindingLimits{clients: httpserver.NewLimit(0, 0, now), sites: httpserver.NewLimit(0, 0, now), now: now, log: log, warned: rate.Sometimes{Interval: time.Hour}}
	n.change(cfg)
	return n
}

// change takes other bounds. A client's bound that has changed begins anew for everybody.
func (n *bindingLimits) change(cfg Config) {
	n.clients.Change(float64(cfg.NewBindingsPerHour)/time.Hour.Seconds(), cfg.NewBindingsPerHour)
	n.sites.Change(float64(cfg.NewBindingsPerSite)/time.Hour.Seconds(), cfg.NewBindingsPerSite)
	n.perDay.Store(int64(cfg.NewBindingsPerDay))
}

// count counts a newcomer and answers how long the client must wait; 0 when it may go on. Who is refused as a client uses up nothing of the site.
func (n *bindingLimits) count(client string) time.Duration {
	if wait := n.clients.Take(client); wait > 0 {
		return wait
	}
	return n.sites.Take(httpserver.SiteOf(client))
}

// checkDay refuses everybody while a day has brought as many as it may.
func (n *bindingLimits) checkDay(tx *records.Tx) error {
	perDay := int(n.perDay.Load())
	next, err := tx.NextBinding(perDay, BindingsSpan)
	if err != nil {
		return err
	}
	wait := next.Sub(n.now())
	if wait <= 0 {
		return nil
	}
	n.warned.Do(func() {
		n.log.WithFields(logrus.Fields{"new_bindings_per_day": perDay, "until": next.UTC().Format(time.RFC3339)}).
			Warn("no new deposit addresses: as many as a day may bring were made")
	})
	return refuseUntil(bindingsFull, wait)
}

// BindingsSpan is what NewBindingsPerDay counts by.
const BindingsSpan = 24 * time.Hour
