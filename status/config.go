package status

import (
	"fmt"
	"time"
)

// Config is the monitor's part of the configuration file.
type Config struct {
	// Every is the interval of checking nodes and followers, at most 15s; default 10s. A fault
	// shows after four checks at the latest.
	Every time.Duration `yaml:"every"`
}

// Check names the setting that cannot be used.
func (c Config) Check() error {
	if c.Every < 0 || c.Every > maxEvery {
		return fmt.Errorf("every: must be from 0s to %s", maxEvery)
	}
	return nil
}
