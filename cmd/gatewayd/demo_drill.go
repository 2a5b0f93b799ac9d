package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatewayd/wallet"
)

// drillOptions are the flags of `gatewayd demo drill`.
type drillOptions struct {
	binary   string // this program
	postgres string // URL of a PostgreSQL server; empty: SQLite
	only     []string
	json     bool
	patience time.Duration
}

// drillPatience is how long one thing may take that takes seconds.
const drillPatience = 4 * time.Minute

// errDrilled says that the drill has told what went wrong.
var errDrilled = errors.New("the drill has failed")

// drill is one thing that goes wrong, what people see of it, and what mends it.
type drill struct {
	name  string
	title string
	cause func(ctx context.Context, d *drillRun) error
	shows map[surface][]string
	token int // number of the token that the pages are asked for
	mend  func(ctx context.Context, d *drillRun) error
	skips func(w *drillWorld) string // why it cannot be done here
}

// drillRun is a drill that goes on.
type drillRun struct {
	*drillWorld
	log     *demoLog
	users   []*drillUser
	books   *drillBooks
	logFrom int64    // where the daemon's log was when it began
	foreign string   // hash of a transaction that is not ours
	hot     string   // address of the hot account
	waiting string   // hash of a withdrawal that waits
	strays  []string // hashes of deposits of which nobody knows the owner
	dust    sync.Mutex
}

func demoDrillCommand(w world) *cobra.Command {
	var o drillOptions
	c := &cobra.Command{
		Use: "drill", Short: "Break a gateway in every way there is, look at every surface, repair it by command and count the money", Args: cobra.NoArgs,
		Long: "Start a source chain (anvil, behind three gates that can fail as nodes do), an exchange chain and a daemon; then let go wrong what can:\n\n" +
			drillList() + "\nAfter each it waits until every surface tells it, repairs it by the command that an operator would use, and has users deposit and\n" +
			"withdraw. In the end every balance on both chains is compared with what users sent. Nothing outside this machine is touched.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if o.postgres == "" { // else no small disk is wanted, and the server's socket may be out of reach in there
				if done, err := inOwnNamespace(w); done {
					return err
				}
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.patience)
			defer cancel()
			return demoDrill(ctx, o, w.stdout)
		},
	}
	self, err := os.Executable()
	if err != nil {
		self = "gatewayd"
	}
	f := c.Flags()
	f.StringVar(&o.binary, "binary", self, "the program that is drilled")
	f.StringVar(&o.postgres, "postgres", "", "URL of a PostgreSQL server where a database may be made and dropped; empty: SQLite")
	f.StringSliceVar(&o.only, "only", nil, "names of the drills, separated by commas; empty: all")
	f.BoolVar(&o.json, "json", false, "print one JSON object per event")
	f.DurationVar(&o.patience, "timeout", 30*time.Minute, "give up after this long")
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

func (o drillOptions) wants(d drill) bool { return len(o.only) == 0 || slices.Contains(o.only, d.name) }

func demoDrill(ctx context.Context, o drillOptions, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "gatewayd-drill-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log := newDemoLog(out, o.json)
	log.step("A gateway with users")
	w := newDrillWorld(dir, o)
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.open(ctx, o); err != nil {
		return err
	}
	hot, err := hotAddress()
	if err != nil {
		return err
	}
	d := &drillRun{drillWorld: w, log: log, hot: hot}
	if err := d.prepare(ctx); err != nil {
		return fmt.Errorf("%w\nThe daemon said:\n%s", err, d.told(0))
	}
	for _, each := range drills() {
		if !o.wants(each) {
			continue
		}
		log.step(each.title)
		if each.skips != nil {
			if why := each.skips(w); why != "" {
				log.note("left out: %s", why)
				continue
			}
		}
		if err := d.run(ctx, each); err != nil {
			return fmt.Errorf("%s: %w\nThe daemon said:\n%s", each.name, err, d.told(d.logFrom))
		}
	}
	log.step("Counting")
	return d.count(ctx)
}

// prepare has every user bridge, which funds them and takes all accounts into use: what an account did before its first payment is its past.
func (d *drillRun) prepare(ctx context.Context) (err error) {
	if d.books, err = openBooks(ctx, d.drillWorld); err != nil {
		return err
	}
	if d.users, err = newDrillUsers(ctx, d.drillWorld, d.books); err != nil {
		return err
	}
	d.visitor = d.users[0].vite.address().String()
	for _, u := range d.users {
		if err := d.anvilGives(ctx, u, 100); err != nil { // for what they bridge after each drill
			return err
		}
		in, err := u.pays(ctx, 60)
		if err != nil {
			return err
		}
		if err := u.paid(ctx, in, ""); err != nil {
			return err
		}
		if err := u.collect(ctx, u.times(60)); err != nil {
			return err
		}
	}
	return d.bridge(ctx)
}

// bridge has every user deposit and withdraw, all at the same time.
func (d *drillRun) bridge(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, u := range d.users {
		g.Go(func() error {
			if err := u.bridges(ctx, d.drillWorld); err != nil {
				return fmt.Errorf("%s: %w", u.token.Symbol, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// run is one drill from cause to proof that money moves again.
func (d *drillRun) run(ctx context.Context, each drill) error {
	d.logFrom, d.token = int64(len(d.told(0))), d.info.Tokens[each.token].Token
	if err := each.cause(ctx, d); err != nil {
		return fmt.Errorf("causing it: %w", err)
	}
	if err := d.shows(ctx, each.shows); err != nil {
		return err
	}
	if each.mend != nil {
		if err := each.mend(ctx, d); err != nil {
			return fmt.Errorf("repairing: %w", err)
		}
	}
	if err := d.shows(ctx, well()); err != nil {
		return fmt.Errorf("after the repair: %w", err)
	}
	if err := d.bridge(ctx); err != nil {
		return fmt.Errorf("after the repair: %w", err)
	}
	d.log.note("money moves")
	return nil
}

func hotAddress() (string, error) {
	keys, err := wallet.FromMnemonic(devMnemonic)
	if err != nil {
		return "", err
	}
	return keys.Address(wallet.HotPath)
}
