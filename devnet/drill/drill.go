// Package drill breaks a gateway in every way there is, looks at every surface, repairs it by command and counts the money.
package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/devnet/demo"
)

// Options are the flags of `gatewayd demo drill`.
type Options struct {
	Binary   string // this program
	Postgres string // URL of a PostgreSQL server; empty: SQLite
	Only     []string
	JSON     bool
	Patience time.Duration
	Group    string // the one whose drills this process does; empty: it starts a process for each
	Mount    bool   // this process may mount the small disk
}

// drillPatience is how long one thing may take that takes seconds.
const drillPatience = 4 * time.Minute

// errDrilled says that the drill has told what went wrong.
var errDrilled = errors.New("the drill has failed")

func List() string {
	var b strings.Builder
	for _, d := range Drills() {
		fmt.Fprintf(&b, "  %-18s %s\n", d.Name, d.Title)
	}
	return b.String()
}

func (o Options) Check() error {
	for _, name := range o.Only {
		if !slices.ContainsFunc(Drills(), func(d drill) bool { return d.Name == name }) {
			return fmt.Errorf("--only %s: there is no such drill; there are\n%s", name, List())
		}
	}
	return nil
}

// wanted are the drills of a group that were asked for.
func (o Options) wanted(group string) (list []drill) {
	for _, d := range Drills() {
		if d.group == group && (len(o.Only) == 0 || slices.Contains(o.Only, d.Name)) {
			list = append(list, d)
		}
	}
	return list
}

// RunGroups has each group's drills done by a process of its own, all at the same time: they mostly wait for blocks.
func (o Options) RunGroups(ctx context.Context, stdout, stderr io.Writer) error {
	var mu sync.Mutex
	var g errgroup.Group // one that fails ends no other
	for _, name := range []string{nodesGroup, moneyGroup, storeGroup} {
		if len(o.wanted(name)) == 0 {
			continue
		}
		g.Go(func() error {
			out := &paragraphs{mu: &mu, out: stdout, end: "\n\n"}
			if o.JSON {
				out.end = "\n"
			}
			defer func() { out.print(len(out.text)) }()
			err := o.start(ctx, name, out, stderr)
			var ended *exec.ExitError
			if errors.As(err, &ended) {
				return errDrilled
			}
			return err
		})
	}
	return g.Wait()
}

// start runs this program for one group; the one with the small disk where it may mount, if the system allows that.
func (o Options) start(ctx context.Context, name string, out, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{
		"demo", "drill", "--group", name, "--binary", o.Binary, "--only", strings.Join(o.Only, ","), "--timeout", o.Patience.String(), fmt.Sprintf("--json=%t", o.JSON),
	}
	if name == storeGroup {
		args = append(args, "--postgres", o.Postgres)
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, self, args...)
		c.Args[0] = os.Args[0]
		c.Stdout, c.Stderr = out, stderr
		c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(syscall.SIGTERM) }, 30*time.Second // it has processes of its own to end
		return c
	}
	if name == moneyGroup {
		c := command(append(args, "--mount")...)
		c.SysProcAttr = OwnMounts(0)
		if err := c.Run(); !MountsRefused(err) {
			return err
		}
	}
	return command(args...).Run()
}

// paragraphs passes on what one of several processes prints, a whole paragraph at a time.
type paragraphs struct {
	mu   *sync.Mutex
	out  io.Writer
	end  string // of a paragraph
	text []byte
}

func (p *paragraphs) Write(text []byte) (int, error) {
	p.text = append(p.text, text...)
	if at := bytes.LastIndex(p.text, []byte(p.end)); at >= 0 {
		p.print(at + 1)
	}
	return len(text), nil
}

func (p *paragraphs) print(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.out.Write(p.text[:n]) // to somebody's pipe that may have closed
	p.text = p.text[n:]
}

// RunGroup does the drills of one group.
func (o Options) RunGroup(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "gatewayd-drill-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w := newDrillEnv(dir, o, demo.NewLog(out, o.JSON))
	defer func() { err = errors.Join(err, w.close()) }()
	w.log.Step("A gateway with users, for " + o.Group)
	if err := w.open(ctx); err != nil {
		return fmt.Errorf("%w\nThe daemon said:\n%s", err, w.told(0))
	}
	for _, each := range o.wanted(o.Group) {
		w.log.Step(each.Title)
		if each.without != nil && each.without(w) != "" {
			w.log.Note("left out: %s", each.without(w))
			continue
		}
		if err := w.run(ctx, each); err != nil {
			return fmt.Errorf("%s: %w\nThe daemon said:\n%s", each.Name, err, w.told(w.logFrom))
		}
	}
	w.log.Step("Counting, for " + o.Group)
	return w.count(ctx)
}

// run is one drill from cause to proof that money moves again.
func (w *drillEnv) run(ctx context.Context, each drill) error {
	begin := time.Now()
	w.logFrom, w.token = len(w.told(0)), w.info.Tokens[each.token].Token
	if err := each.cause(w, ctx); err != nil {
		return fmt.Errorf("causing it: %w", err)
	}
	if err := w.shows(ctx, each.shows); err != nil {
		return err
	}
	if each.mend != nil {
		if _, err := w.alerted(ctx, each, func(b alertBook) bool { return b.begun }); err != nil {
			return err
		}
		if err := each.mend(w, ctx); err != nil {
			return fmt.Errorf("repairing: %w", err)
		}
	}
	if err := w.shows(ctx, well()); err != nil {
		return fmt.Errorf("after the repair: %w", err)
	}
	if err := w.bridge(ctx); err != nil {
		return fmt.Errorf("after the repair: %w", err)
	}
	told, err := w.alerted(ctx, each, func(b alertBook) bool { return b.begun && (each.stays || b.over) })
	if err != nil {
		return err
	}
	w.log.Note("%-30s %s", "log", told.text)
	w.log.Note("money moves  (%s)", time.Since(begin).Round(time.Second))
	return nil
}
