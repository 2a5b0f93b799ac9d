package drill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/dev"
	"gatewayd/status"
)

// surface is one place where people or their programs check a gateway.
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
)

// Pages are cheap and are polled until they show the change; only then commands are run.
var (
	drillPages    = []surface{onHealth, onMeta, onDeposit, onWithdrawal}
	drillCommands = []surface{onChannels, onAccounts, onRecords, onDoctor}
)

// surfaces are the parts of its text that each surface must have; those with an exclamation mark it
// must not have.
type surfaces map[surface][]string

// and adds what one more must have.
func (s surfaces) and(where surface, parts ...string) surfaces {
	s[where] = append(s[where], parts...)
	return s
}

// readSurface reads one surface as text. The exit code of a command or the status of an answer
// precedes it.
func (w *drillEnv) readSurface(ctx context.Context, s surface) (string, error) {
	query := "?tokenId=" + w.token + "&walletAddress=" + w.users[0].Vite.Address().String()
	switch s {
	case onHealth:
		return w.page(ctx, w.healthURL())
	case onMeta, onDeposit, onWithdrawal:
		return w.page(ctx, w.info.Gateway+"/"+string(s)+query)
	}
	out, code, err := w.gatewayd(ctx, strings.Fields(string(s))...)
	return fmt.Sprintf("rc %d %s", code, out), err
}

// drillLook bounds the answer of one surface.
const drillLook = time.Minute

// page asks the gateway as a wallet does.
func (w *drillEnv) page(ctx context.Context, url string) (string, error) {
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

// gatewayd runs a command of an operator and answers what it printed and its exit code.
func (w *drillEnv) gatewayd(ctx context.Context, args ...string) (out string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, drillLook)
	defer cancel()
	c := exec.CommandContext(ctx, w.options.binary, append(args, "-c", w.info.Config)...)
	var both bytes.Buffer
	c.Stdout, c.Stderr = &both, &both
	err = c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ctx.Err() == nil {
		return both.String(), ended.ExitCode(), nil
	}
	return both.String(), 0, err
}

// mustCommand runs an operator's command that must succeed, and logs it.
func (w *drillEnv) mustCommand(ctx context.Context, args ...string) error {
	out, code, err := w.gatewayd(ctx, args...)
	w.log.Note("$ gatewayd %s", strings.Join(args, " "))
	for line := range strings.Lines(strings.TrimSpace(out)) {
		w.log.Note("  %s", strings.TrimRight(line, "\n"))
	}
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d: %s", code, strings.TrimSpace(out))
	}
	if err != nil {
		return fmt.Errorf("gatewayd %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// heldRecord is the drill's part of a row of the operators' list.
type heldRecord struct {
	ID   uint64 `json:"id"`
	InTx string `json:"inTx"`
}

// needingOperator reads the operators' list.
func (w *drillEnv) needingOperator(ctx context.Context) (rows []heldRecord, err error) {
	out, code, err := w.gatewayd(ctx, "records", "list", "--needs-operator", "--json")
	if err == nil && code != 0 {
		err = errors.New(out)
	}
	if err != nil {
		return nil, err
	}
	return rows, json.Unmarshal([]byte(out), &rows)
}

// waitForSurfaces waits until every surface has its parts, and prints how soon each had.
func (w *drillEnv) waitForSurfaces(ctx context.Context, wanted surfaces) error {
	begin := time.Now()
	for _, s := range drillPages {
		note, err := w.awaitSurface(ctx, begin, s, wanted[s])
		if err != nil {
			return err
		}
		w.logNote(note)
	}
	notes := make([]string, len(drillCommands))
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range drillCommands {
		g.Go(func() (err error) {
			notes[i], err = w.awaitSurface(ctx, begin, s, wanted[s])
			return err
		})
	}
	err := g.Wait()
	for _, note := range notes {
		w.logNote(note)
	}
	return err
}

func (w *drillEnv) logNote(note string) {
	if note != "" {
		w.log.Note("%s", note)
	}
}

// awaitSurface waits until one surface has its parts, and returns the line that has.
func (w *drillEnv) awaitSurface(ctx context.Context, begin time.Time, s surface, parts []string) (note string, err error) {
	if len(parts) == 0 {
		return "", nil
	}
	var last string
	err = dev.Within(ctx, drillPatience, string(s), func() (_ bool, err error) {
		last, err = w.readSurface(ctx, s)
		return err == nil && containsAll(last, parts), w.alive()
	})
	if err != nil {
		return "", fmt.Errorf("%s should say %q and says: %s: %w", s, parts, strings.TrimSpace(last), err)
	}
	return fmt.Sprintf("%-30s %s  (%s)", s, excerpt(last, parts), time.Since(begin).Round(time.Second)), nil
}

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

// alertLine is a line of the daemon's log with the beginning or the end of a condition.
type alertLine struct {
	Level, Msg, Since, Lasted string
	Alert, Tokens             string
	alertKey
}

// parseAlert reads a line. Conditions of tokens are one alert, whichever tokens it has now.
func parseAlert(line string) (a alertLine, ok bool) {
	if json.Unmarshal([]byte(line), &a) != nil {
		return a, false
	}
	if a.Tokens != "" {
		a.alertKey = alertKey{Condition: a.Condition, Network: "all"}
	}
	return a, true
}

// alertKey identifies the condition in both lines.
type alertKey struct {
	Condition                                 status.Kind
	Chain, Network, Token, Direction, Subject string
}

// mostWarnings bounds the daemon's warnings and errors in one drill: each loop and each node may
// log some.
const mostWarnings = 60

// waitForAlerts waits until the log has enough lines of the drill's alert, and requires that no
// alert is logged twice.
func (w *drillEnv) waitForAlerts(ctx context.Context, each drill, enough func(alertBook) bool) (told alertBook, err error) {
	err = dev.Within(ctx, drillPatience, "the log's lines", func() (_ bool, err error) {
		told, err = readAlerts(w.readLog(w.logFrom), each.Alert)
		return enough(told), err
	})
	if err != nil {
		return told, fmt.Errorf("the log must tell %q once when it begins and once when it is over: %w", each.Alert, err)
	}
	return told, nil
}

// stands reports whether a condition of a kind has begun in a log and is not over.
func stands(log string, kind status.Kind) bool {
	open := map[alertKey]bool{}
	for line := range strings.Lines(log) {
		if a, ok := parseAlert(line); ok && a.Condition == kind && kind != "" {
			open[a.alertKey] = a.Alert != "over"
		}
	}
	return slices.Contains(slices.Collect(maps.Values(open)), true)
}

// alertBook has the alerts of a log: those of one kind of condition, and all others.
type alertBook struct {
	begun, over bool
	text        string
}

// mostOnsets bounds the beginnings of the same condition in one drill: a node that is late on a
// busy machine may be reported again.
const mostOnsets = 2

// readAlerts parses a log. A surplus line is an error: a repeated beginning, or an end without a
// beginning.
func readAlerts(log string, kind status.Kind) (b alertBook, err error) {
	open, known, onsets, warnings := map[alertKey]bool{}, map[alertKey]bool{}, map[alertKey]int{}, 0
	b.begun, b.over = kind == "", true
	for line := range strings.Lines(log) {
		a, ok := parseAlert(line)
		if !ok {
			continue
		}
		if slices.Contains([]string{"warning", "error"}, a.Level) {
			warnings++
		}
		if a.Condition == "" || a.Alert == "changed" {
			continue
		}
		over := a.Alert == "over"
		mine := a.Condition == kind
		switch {
		case a.Since == "" || a.Chain+a.Network+a.Subject == "" && kind != status.StoreDown && mine:
			return b, fmt.Errorf("an alert says not of what or since when: %s", line)
		case known[a.alertKey] && open[a.alertKey] != over:
			return b, fmt.Errorf("an alert is told twice: %s", line)
		case !over && onsets[a.alertKey] == mostOnsets:
			return b, fmt.Errorf("an alert comes again and again: %s", line)
		case !over:
			onsets[a.alertKey]++
		}
		known[a.alertKey], open[a.alertKey] = true, !over
		if mine && !over {
			b.begun, b.text = true, fmt.Sprintf("condition=%s since=%s %s", a.Condition, a.Since, a.Msg)
		}
		if mine && over {
			b.text += fmt.Sprintf("; over after %s", a.Lasted)
		}
	}
	for key, still := range open {
		if key.Condition == kind && still {
			b.over = false
		}
	}
	if warnings > mostWarnings {
		return b, fmt.Errorf("a storm of %d warnings", warnings)
	}
	b.text = strings.TrimSpace(fmt.Sprintf("%s (%d warnings in all)", b.text, warnings))
	return b, nil
}
