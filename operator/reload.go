package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/status"
)

// ReloadPatience is the time for which the command waits for the daemon to read its configuration.
const ReloadPatience = 30 * time.Second

// ErrNoDaemon means that no daemon uses the database, so that no process would execute an order.
var ErrNoDaemon = errors.New("no daemon uses the database")

// Reload orders the daemon to read its configuration, under the actor of ctx, and waits for it. The
// order stays open if the wait ends first.
func (d *Session) Reload(ctx context.Context, why string, patience time.Duration) (r records.Reload, err error) {
	if led, err := d.Store.Led(ctx, status.Role); err != nil || !led {
		return r, cmp.Or(err, plainly(ErrNoDaemon, "the file is valid, but no daemon uses its database: it is read at the next start"))
	}
	err = d.Store.Update(ctx, func(tx *records.Tx) error {
		if r.ID, err = records.OrderReload(tx); err != nil {
			return err
		}
		return tx.Log(records.Event{Subject: "configuration", SubjectID: strconv.FormatUint(r.ID, 10), Event: "ordered", Detail: because("reload", why)})
	})
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := d.Store.View(context.WithoutCancel(ctx), func(tx *records.Tx) (err error) {
			r, err = records.ReloadByID(tx, r.ID)
			return err
		})
		if err != nil || r.State != records.ReloadOpen {
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, nil
		case <-tick.C:
		}
	}
}

// LastReload is the reading by which the daemon works, or worked last; false when none was noted.
func (d *Session) LastReload(ctx context.Context) (r records.Reload, report config.Reload, found bool, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		r, found, err = records.Configured(tx)
		return err
	})
	if err == nil && found {
		err = json.Unmarshal([]byte(r.Report), &report)
	}
	return r, report, found, err
}

// Reloaded returns the result of an order; a failed one is an error.
func (d *Session) Reloaded(r records.Reload, path string) (report config.Reload, err error) {
	if r.State == records.ReloadOpen {
		return report, fmt.Errorf("the daemon has not answered within %s; the order remains, and its log will show the result", ReloadPatience)
	}
	if err := json.Unmarshal([]byte(r.Report), &report); err != nil {
		return report, fmt.Errorf("reading the daemon's answer: %w", err)
	}
	if r.State == records.ReloadRefused {
		return report, fmt.Errorf("the daemon refused %s, and nothing has changed: %s", report.File, report.Refused)
	}
	mine, err := d.Config.Fingerprint()
	if err == nil && mine != r.Fingerprint {
		err = fmt.Errorf("the daemon has read %s, which differs from %s: name its own file with -c, on its machine", report.File, absolute(path))
	}
	return report, err
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// Configured reports whether the daemon has read the present file, and which of its keys wait for
// the next start.
func (d *Session) Configured(ctx context.Context) (known bool, waits []string, err error) {
	mine, err := d.Config.Fingerprint()
	if err != nil {
		return false, nil, err
	}
	var last records.Reload
	err = d.Store.View(ctx, func(tx *records.Tx) (err error) {
		last, _, err = records.Configured(tx)
		return err
	})
	var report config.Reload
	if err != nil || last.Fingerprint != mine || json.Unmarshal([]byte(last.Report), &report) != nil {
		return false, nil, err
	}
	return true, report.Restart, nil
}
