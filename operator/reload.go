package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"gatewayd/config"
	"gatewayd/operator/status"
	"gatewayd/records"
	"gatewayd/records/control"
)

// reloadPatience is how long the command waits for the daemon to read its configuration.
const reloadPatience = 30 * time.Second

// Reload orders the daemon to read its configuration, and waits until it has.
func (d *Session) Reload(ctx context.Context) (r control.Reload, err error) {
	if led, err := d.Store.Led(ctx, status.Role); err != nil || !led {
		return r, cmp.Or(err, errors.New("the file is right, but no daemon works on its database: it is read when one starts"))
	}
	err = d.Change(ctx, func(tx *records.Tx) error {
		r.ID, err = control.OrderReload(tx)
		return err
	})
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, reloadPatience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := d.Store.View(context.WithoutCancel(ctx), func(tx *records.Tx) (err error) {
			r, err = control.ReloadByID(tx, r.ID)
			return err
		})
		if err != nil || r.State != control.ReloadOpen {
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, fmt.Errorf("the daemon has not answered within %s; the order stands, its log will say what came of it", reloadPatience)
		case <-tick.C:
		}
	}
}

// Reloaded is what came of an order; that nothing came of it is an error.
func (d *Session) Reloaded(r control.Reload, path string) (report config.Reload, err error) {
	if err := json.Unmarshal([]byte(r.Report), &report); err != nil {
		return report, fmt.Errorf("reading the daemon's answer: %w", err)
	}
	if r.State == control.ReloadRefused {
		return report, fmt.Errorf("the daemon refuses %s, and nothing has changed: %s", report.File, report.Refused)
	}
	mine, err := d.Config.Fingerprint()
	if err == nil && mine != r.Fingerprint {
		err = fmt.Errorf("the daemon has read %s, which says something else than %s: name its own file with -c, on its machine", report.File, absolute(path))
	}
	return report, err
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// Configured tells whether the daemon has read what the file says now, and which keys of that wait for its next start.
func (d *Session) Configured(ctx context.Context) (known bool, waits []string, err error) {
	mine, err := d.Config.Fingerprint()
	if err != nil {
		return false, nil, err
	}
	var last control.Reload
	err = d.Store.View(ctx, func(tx *records.Tx) (err error) {
		last, _, err = control.Configured(tx)
		return err
	})
	var report config.Reload
	if err != nil || last.Fingerprint != mine || json.Unmarshal([]byte(last.Report), &report) != nil {
		return false, nil, err
	}
	return true, report.Restart, nil
}
