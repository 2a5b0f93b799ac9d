package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/records"
)

// reloadPatience is how long the command waits for the daemon to read its configuration.
const reloadPatience = 30 * time.Second

func reloadCommand(w world) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "reload", Short: "Check the configuration and let the running daemon take over what has changed", Args: cobra.NoArgs,
		Long: "Check the configuration as a whole and let the running daemon read it again. Funders, tokens with their limits and fees, explorers, limits of clients\n" +
			"and log.level are taken at once; the answer names them, and the keys that wait for a restart. A file that is wrong changes nothing, and neither does a\n" +
			"SIGHUP to the daemon then, which otherwise does the same.",
		Example: "  gatewayd reload -c /etc/gatewayd/config.yaml",
	}
	path := configFlag(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		d, err := openDesk(cmd.Context(), *path)
		if err != nil {
			return err
		}
		defer d.store.Close()
		done, err := d.reload(cmd.Context())
		if err != nil {
			return err
		}
		report, err := d.reloaded(done, *path)
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(w.stdout, report)
		}
		return report.print(w.stdout)
	}
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}

// reload orders the daemon to read its configuration, and waits until it has.
func (d *desk) reload(ctx context.Context) (r records.Reload, err error) {
	if led, err := d.store.Led(ctx, leaseRole); err != nil || !led {
		return r, cmp.Or(err, errors.New("the file is right, but no daemon works on its database: it is read when one starts"))
	}
	err = d.change(ctx, func(tx *records.Tx) error {
		r.ID, err = tx.OrderReload()
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
		err := d.store.View(context.WithoutCancel(ctx), func(tx *records.Tx) (err error) {
			r, err = tx.ReloadByID(r.ID)
			return err
		})
		if err != nil || r.State != records.ReloadOpen {
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, fmt.Errorf("the daemon has not answered within %s; the order stands, its log will say what came of it", reloadPatience)
		case <-tick.C:
		}
	}
}

// reloaded is what came of an order; that nothing came of it is an error.
func (d *desk) reloaded(r records.Reload, path string) (report reloadReport, err error) {
	if err := json.Unmarshal([]byte(r.Report), &report); err != nil {
		return report, fmt.Errorf("reading the daemon's answer: %w", err)
	}
	if r.State == records.ReloadRefused {
		return report, fmt.Errorf("the daemon refuses %s, and nothing has changed: %s", report.File, report.Refused)
	}
	mine, err := d.cfg.fingerprint()
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

func (r reloadReport) print(w io.Writer) error {
	if len(r.Taken)+len(r.Restart) == 0 {
		_, err := fmt.Fprintf(w, "The daemon works by %s already: nothing has changed.\n", r.File)
		return err
	}
	if len(r.Taken) > 0 {
		fmt.Fprintf(w, "The daemon has taken from %s:\n", r.File)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range r.Taken {
		fmt.Fprintf(t, "  %s\t%s\n", c.Key, c.words())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Restart) > 0 {
		fmt.Fprintln(w, "Takes a restart:")
	}
	for _, key := range r.Restart {
		fmt.Fprintf(w, "  %s\n", key)
	}
	if r.More > 0 {
		fmt.Fprintf(w, "and %d more.\n", r.More)
	}
	return nil
}

// words are what became of a key.
func (c configChange) words() string {
	switch {
	case c.Was == "":
		return "added: " + c.Now
	case c.Now == "":
		return "removed: " + c.Was
	}
	return c.Was + " -> " + c.Now
}

// configured tells whether the daemon has read what the file says now, and which keys of that wait for its next start.
func (d *desk) configured(ctx context.Context) (known bool, waits []string, err error) {
	mine, err := d.cfg.fingerprint()
	if err != nil {
		return false, nil, err
	}
	var last records.Reload
	err = d.store.View(ctx, func(tx *records.Tx) (err error) {
		last, _, err = tx.Configured()
		return err
	})
	var report reloadReport
	if err != nil || last.Fingerprint != mine || json.Unmarshal([]byte(last.Report), &report) != nil {
		return false, nil, err
	}
	return true, report.Restart, nil
}
