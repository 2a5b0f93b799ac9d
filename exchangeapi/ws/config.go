package ws

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Config bounds what clients may use. Zero members take their defaults.
type Config struct {
	Connections int `yaml:"connections"` // open at one time; further ones get 503; default 10,000
	// ClientConnections bounds the connections of one client (address, IPv6 by /64); further ones
	// get 429; default 200. Connections from this machine are not counted: a local proxy passes the
	// client's address, and is in trust_proxy.
	ClientConnections int `yaml:"client_connections"`

	Topics        int `yaml:"topics"`         // of one connection; default 2,000: trade and depth of a thousand pairs
	Subscriptions int `yaml:"subscriptions"`  // of all connections together; default 500,000, which take some 150 MB where no two are alike
	MessageBytes  int `yaml:"message_bytes"`  // of one client message; default 64 KiB
	MessagesAMin  int `yaml:"messages_a_min"` // of one connection; more closes it; default 6,000
	QueueEntries  int `yaml:"queue_entries"`  // that wait for one connection; an entry is a push, or several of one topic; default 512
	QueueBytes    int `yaml:"queue_bytes"`    // that wait for one connection; default 1 MiB
	UpdatesBehind int `yaml:"updates_behind"` // that may wait for the hub before the index lets it go; default 4,096

	WriteTimeout time.Duration `yaml:"write_timeout"` // a client takes nothing for so long; default 10 s
	// Expiry is the lifetime of subscriptions without a frame from the client (published: 1
	// minute), Close that of the connection; defaults 60 s and 120 s.
	Expiry time.Duration `yaml:"expiry"`
	Close  time.Duration `yaml:"close"`
}

// withDefaults is c with defaults for zero members.
func (c Config) withDefaults() Config {
	c.Connections = cmp.Or(c.Connections, 10_000)
	c.ClientConnections = cmp.Or(c.ClientConnections, 200)
	c.Topics = cmp.Or(c.Topics, 2_000)
	c.Subscriptions = cmp.Or(c.Subscriptions, 500_000)
	c.MessageBytes = cmp.Or(c.MessageBytes, 64<<10)
	c.MessagesAMin = cmp.Or(c.MessagesAMin, 6_000)
	c.QueueEntries = cmp.Or(c.QueueEntries, 512)
	c.QueueBytes = cmp.Or(c.QueueBytes, 1<<20)
	c.UpdatesBehind = cmp.Or(c.UpdatesBehind, 4_096)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
	c.Expiry = cmp.Or(c.Expiry, time.Minute)
	c.Close = cmp.Or(c.Close, 2*c.Expiry)
	return c
}

// Check names the member that cannot be.
func (c Config) Check() error {
	var faults []error
	for name, n := range map[string]int{
		"connections": c.Connections, "client_connections": c.ClientConnections, "topics": c.Topics,
		"subscriptions": c.Subscriptions, "message_bytes": c.MessageBytes, "messages_a_min": c.MessagesAMin,
		"queue_entries": c.QueueEntries, "queue_bytes": c.QueueBytes, "updates_behind": c.UpdatesBehind,
	} {
		if n < 0 {
			faults = append(faults, fmt.Errorf("%s: %d is below zero", name, n))
		}
	}
	for name, d := range map[string]time.Duration{"write_timeout": c.WriteTimeout, "expiry": c.Expiry, "close": c.Close} {
		if d < 0 {
			faults = append(faults, fmt.Errorf("%s: %s is below zero", name, d))
		}
	}
	if full := c.withDefaults(); full.Close < full.Expiry {
		faults = append(faults, fmt.Errorf("close: %s is before expiry, %s", full.Close, full.Expiry))
	}
	return errors.Join(faults...)
}
