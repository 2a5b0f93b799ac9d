package gateway

import (
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/time/rate"

	"gatewayd/records"
	"gatewayd/serve"
)

// newcomers bounds who may take a new inbound address or label: each is watched for ever. Clients and sites are counted by each replica, in
// bounded memory; the whole gateway by its records.
type newcomers struct {
	clients, sites *serve.Limit
	perDay         int
	now            func() time.Time
	log            *logrus.Logger
	told           rate.Sometimes // of the whole gateway's bound
}

func newNewcomers(cfg Config, now func() time.Time, log *logrus.Logger) *newcomers {
	hourly := func(most int) *serve.Limit { return serve.NewLimit(float64(most)/time.Hour.Seconds(), most, now) }
	return &newcomers{
		clients: hourly(cfg.NewBindingsPerHour), sites: hourly(cfg.NewBindingsPerSite), perDay: cfg.NewBindingsPerDay, now: now, log: log,
		told: rate.Sometimes{Interval: time.Hour},
	}
}

// take counts a newcomer and answers how long the client must wait; 0 when it may go on. Who is refused as a client uses up nothing of the site.
func (n *newcomers) take(client string) time.Duration {
	if wait := n.clients.Take(client); wait > 0 {
		return wait
	}
	return n.sites.Take(serve.SiteOf(client))
}

// room refuses everybody while a day has brought as many as it may.
func (n *newcomers) room(tx *records.Tx) error {
	next, err := tx.NextBinding(n.perDay, BindingsSpan)
	if err != nil {
		return err
	}
	wait := next.Sub(n.now())
	if wait <= 0 {
		return nil
	}
	n.told.Do(func() {
		n.log.WithFields(logrus.Fields{"new_bindings_per_day": n.perDay, "until": next.UTC().Format(time.RFC3339)}).
			Warn("no new deposit addresses: as many as a day may bring were made")
	})
	return refuseUntil(bindingsFull, wait)
}

// BindingsSpan is what NewBindingsPerDay counts by.
const BindingsSpan = 24 * time.Hour
