package wallet

import (
	"cmp"
	"crypto/rand"
	"errors"
	"gatewayd/wallet/keystore"
	"io"
	"time"
)

// Config sets the place of stores and the limits of their use. Only Dir must be set.
type Config struct {
	Dir      string        // the standard directory; made if it is missing
	Stores   []string      // further stores, absolute paths
	AutoLock time.Duration // an unlocked store is locked after not being used for this long; 0: ten minutes, negative: never
	// bytes that password checks may take together (a costlier one runs alone); 0: 512 MiB, two at
	// the standard cost
	Memory int64
	Queue  int           // password checks at a time, waiting ones included; more are ErrBusy; 0: 64
	Cost   keystore.Cost // of new stores; zero: the standard

	Random io.Reader        // of new secrets; nil: crypto/rand
	Now    func() time.Time // nil: time.Now
}

// Check reports every fault of the configuration.
func (c Config) Check() error {
	switch {
	case c.Dir == "":
		return errors.New("dir is not set")
	case c.Memory < 0:
		return errors.New("memory must not be negative")
	case c.Queue < 0:
		return errors.New("queue must not be negative")
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.AutoLock = cmp.Or(c.AutoLock, defaultAutoLock)
	c.Memory = cmp.Or(c.Memory, defaultMemory)
	c.Queue = cmp.Or(c.Queue, defaultQueue)
	c.Cost = cmp.Or(c.Cost, keystore.StandardCost())
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
