package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"gatewayd/operator/status"
)

// surface is one place where people or their programs look at a gateway.
type surface string

const (
	onHealth     surface = "/health"
	onMeta       surface = "meta-info"
	onDeposit    surface = "deposit-info"
	onWithdrawal surface = "withdraw-info"
	onChannels   surface = "channel list"
	onAccounts   surface = "account list"
	onRecords    surface = "records list --needs-operator"
	onDoctor     surface = "doctor"
	onLog        surface = "log"
)

// allSurfaces in the order in which they are printed.
var allSurfaces = []surface{onHealth, onMeta, onDeposit, onWithdrawal, onChannels, onAccounts, onRecords, onDoctor, onLog}

// look reads one surface as text. The exit code of a command and the status of an answer stand in front.
func (w *drillWorld) look(ctx context.Context, s surface, logFrom int64) (string, error) {
	token := w.token
	switch s {
	case onHealth:
		return w.page(ctx, w.healthURL())
	case onMeta:
		return w.page(ctx, w.info.Gateway+"/meta-info?tokenId="+token)
	case onDeposit:
		return w.page(ctx, w.info.Gateway+"/deposit-info?tokenId="+token+"&walletAddress="+w.visitor)
	case onWithdrawal:
		return w.page(ctx, w.info.Gateway+"/withdraw-info?tokenId="+token+"&walletAddress="+w.visitor)
	case onLog:
		return w.told(logFrom), nil
	}
	out, code, err := w.gatewayd(ctx, strings.Fields(string(s))...)
	return fmt.Sprintf("rc %d %s", code, out), err
}

// page asks the gateway as a wallet does.
func (w *drillWorld) page(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, drillLook)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return fmt.Sprintf("%d %s", res.StatusCode, text), err
}

// drillLook is how long one surface may take to answer.
const drillLook = 30 * time.Second

// gatewayd runs a command of an operator and answers what it printed and its exit code.
func (w *drillWorld) gatewayd(ctx context.Context, args ...string) (out string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*drillLook)
	defer cancel()
	c := exec.CommandContext(ctx, w.binary, append(args, "-c", w.info.Config)...)
	var both bytes.Buffer
	c.Stdout, c.Stderr = &both, &both
	err = c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ctx.Err() == nil {
		return both.String(), ended.ExitCode(), nil
	}
	return both.String(), 0, err
}

// orders runs a command of an operator that must succeed, and tells it.
func (d *drillRun) orders(ctx context.Context, args ...string) error {
	out, code, err := d.gatewayd(ctx, args...)
	d.log.note("$ gatewayd %s", strings.Join(args, " "))
	for line := range strings.Lines(strings.TrimSpace(out)) {
		d.log.note("  %s", strings.TrimRight(line, "\n"))
	}
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d: %s", code, strings.TrimSpace(out))
	}
	if err != nil {
		return fmt.Errorf("gatewayd %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// shows waits until every surface says what it must, and prints how soon each did.
func (d *drillRun) shows(ctx context.Context, wanted map[surface][]string) error {
	begin := time.Now()
	for _, s := range allSurfaces {
		if len(wanted[s]) == 0 {
			continue
		}
		var last string
		err := within(ctx, drillPatience, string(s), func() (bool, error) {
			var err error
			last, err = d.look(ctx, s, d.logFrom)
			return err == nil && containsAll(last, wanted[s]), d.alive()
		})
		if err != nil {
			return fmt.Errorf("%s should say %q and says: %s: %w", s, wanted[s], strings.TrimSpace(last), err)
		}
		d.log.note("%-30s %s  (%s)", s, excerpt(last, wanted[s]), time.Since(begin).Round(time.Second))
	}
	return nil
}

// containsAll tells whether a text has all parts; those with an exclamation mark it must not have.
func containsAll(text string, parts []string) bool {
	for _, p := range parts {
		if part, not := strings.CutPrefix(p, "!"); not == strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// excerpt is the line of a text that has the last of its parts.
func excerpt(text string, parts []string) string {
	const widest = 160
	last := parts[len(parts)-1]
	if absent, not := strings.CutPrefix(last, "!"); not {
		return "no " + absent
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, last) {
			line = strings.Join(strings.Fields(line), " ")
			return line[:min(len(line), widest)]
		}
	}
	return last
}

// well is what every surface says when money moves. That a node was wrong, the doctor tells for some minutes.
func well() map[surface][]string {
	var quiet []string
	for _, kind := range []status.Kind{
		status.StoreDown, status.DaemonDown, status.ChainHalted, status.NodesDown, status.NodesDisagree, status.NodesStale, status.FollowerStuck,
		status.FollowerBehind, status.AccountStopped, status.ChannelStopped,
	} {
		quiet = append(quiet, "!FIX  status "+string(kind))
	}
	return map[surface][]string{
		onHealth: {"200 ", `"status":"ok"`}, onMeta: {`"depositState":"OPEN"`, `"withdrawState":"OPEN"`},
		onDeposit: {`"code":0`}, onWithdrawal: {`"code":0`}, onChannels: {"rc 0", "!MAINTAIN"}, onAccounts: {"rc 0", "!halted", "!recovering"},
		onDoctor: append(quiet, "status"),
	}
}

// needing reads the operators' list.
func (w *drillWorld) needing(ctx context.Context) (rows []recordRow, err error) {
	out, code, err := w.gatewayd(ctx, "records", "list", "--needs-operator", "--json")
	if err == nil && code != 0 {
		err = errors.New(out)
	}
	if err != nil {
		return nil, err
	}
	return rows, json.Unmarshal([]byte(out), &rows)
}
