package main

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

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// drillOptions are the flags of `gatewayd demo drill`.
type drillOptions struct {
	binary   string // this program
	postgres string // URL of a PostgreSQL server; empty: SQLite
	only     []string
	json     bool
	patience time.Duration
	world    string // the one whose drills this process does; empty: it starts a process for each
	mount    bool   // this process may mount the small disk
}

// drillPatience is how long one thing may take that takes seconds.
const drillPatience = 4 * time.Minute

// errDrilled says that the drill has told what went wrong.
var errDrilled = errors.New("the drill has failed")

func demoDrillCommand(w world) *cobra.Command {
	var o drillOptions
	c := &cobra.Command{
		Use: "drill", Short: "Break a gateway in every way there is, look at every surface, repair it by command and count the money", Args: cobra.NoArgs,
		Long: "Start three gateways side by side, each with a source chain (anvil, behind three nodes that can fail), an exchange chain and a daemon; then let\n" +
			"go wrong what can:\n\n" + drillList() +
			"\nAfter each it waits until every surface tells it, repairs it by the command that an operator would use, has users deposit and withdraw, and\n" +
			"looks for one line of the log when it began and one when it was over. In the end every balance on both chains is compared with what users\n" +
			"sent. Nothing outside this machine is touched.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.patience)
			defer cancel()
			if o.world == "" {
				return o.runWorlds(ctx, w)
			}
			return o.runWorld(ctx, w.stdout)
		},
	}
	self, err := os.Executable()
	if err != nil {
		self = "gatewayd"
	}
	f := c.Flags()
	f.StringVar(&o.binary, "binary", self, "the program that is drilled")
	f.StringVar(&o.postgres, "postgres", "", "URL of a PostgreSQL server on this machine where a database may be made and dropped; empty: SQLite")
	f.StringSliceVar(&o.only, "only", nil, "names of the drills, separated by commas; empty: all")
	f.BoolVar(&o.json, "json", false, "print one JSON object per event")
	f.DurationVar(&o.patience, "timeout", 20*time.Minute, "give up after this long")
	f.StringVar(&o.world, "world", "", "")
	f.BoolVar(&o.mount, "mount", false, "")
	for _, inner := range []string{"world", "mount"} {
		_ = f.MarkHidden(inner) // it was defined above
	}
	return c
}

func drillList() string {
	var b strings.Builder
	for _, d := range drills() {
		fmt.Fprintf(&b, "  %-18s %s\n", d.name, d.title)
	}
	return b.String()
}

func (o drillOptions) check() error {
	for _, name := range o.only {
		if !slices.ContainsFunc(drills(), func(d drill) bool { return d.name == name }) {
			return fmt.Errorf("--only %s: there is no such drill; there are\n%s", name, drillList())
		}
	}
	return nil
}

// wanted are the drills of a world that were asked for.
func (o drillOptions) wanted(world string) (list []drill) {
	for _, d := range drills() {
		if d.world == world && (len(o.only) == 0 || slices.Contains(o.only, d.name)) {
			list = append(list, d)
		}
	}
	return list
}

// runWorlds has each world's drills done by a process of its own, all at the same time: they mostly wait for blocks.
func (o drillOptions) runWorlds(ctx context.Context, w world) error {
	var mu sync.Mutex
	var g errgroup.Group // one that fails ends no other
	for _, name := range []string{nodesWorld, moneyWorld, storeWorld} {
		if len(o.wanted(name)) == 0 {
			continue
		}
		g.Go(func() error {
			out := &paragraphs{mu: &mu, out: w.stdout, end: "\n\n"}
			if o.json {
				out.end = "\n"
			}
			defer func() { out.print(len(out.text)) }()
			err := o.start(ctx, name, w, out)
			var ended *exec.ExitError
			if errors.As(err, &ended) {
				return errDrilled
			}
			return err
		})
	}
	return g.Wait()
}

// start runs this program for one world; the one with the small disk where it may mount, if the system allows that.
func (o drillOptions) start(ctx context.Context, name string, w world, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{
		"demo", "drill", "--world", name, "--binary", o.binary, "--only", strings.Join(o.only, ","), "--timeout", o.patience.String(), fmt.Sprintf("--json=%t", o.json),
	}
	if name == storeWorld {
		args = append(args, "--postgres", o.postgres)
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, self, args...)
		c.Args[0] = os.Args[0]
		c.Stdout, c.Stderr = out, w.stderr
		c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(syscall.SIGTERM) }, 30*time.Second // it has processes of its own to end
		return c
	}
	if name == moneyWorld {
		c := command(append(args, "--mount")...)
		c.SysProcAttr = ownMounts(0)
		if err := c.Run(); !mountsRefused(err) {
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

// runWorld does the drills of one world.
func (o drillOptions) runWorld(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "gatewayd-drill-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w := newDrillWorld(dir, o, newDemoLog(out, o.json))
	defer func() { err = errors.Join(err, w.close()) }()
	w.log.step("A gateway with users, for " + o.world)
	if err := w.open(ctx, o); err != nil {
		return fmt.Errorf("%w\nThe daemon said:\n%s", err, w.told(0))
	}
	for _, each := range o.wanted(o.world) {
		w.log.step(each.title)
		if each.without != nil && each.without(w) != "" {
			w.log.note("left out: %s", each.without(w))
			continue
		}
		if err := w.run(ctx, each); err != nil {
			return fmt.Errorf("%s: %w\nThe daemon said:\n%s", each.name, err, w.told(w.logFrom))
		}
	}
	w.log.step("Counting, for " + o.world)
	return w.count(ctx)
}

// run is one drill from cause to proof that money moves again.
func (w *drillWorld) run(ctx context.Context, each drill) error {
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
	w.log.note("%-30s %s", "log", told.text)
	w.log.note("money moves  (%s)", time.Since(begin).Round(time.Second))
	return nil
}
