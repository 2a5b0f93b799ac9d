package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/goccy/go-yaml"

	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/signer/remote"
)

// CustodyProcesses are a daemon and its signer, with their files.
type CustodyProcesses struct {
	program, dir   string
	daemonConfig   config.Config
	signerConfig   config.Config
	Info           dev.Info
	list, key      string // files: the block list, and an approver's key
	signer, daemon *exec.Cmd
	log            lines // of the signer
	closers        []func()
}

// Gatewayd returns the path of the program gatewayd next to this one.
func Gatewayd() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), "gatewayd")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: build it with `go build -o %s ./cmd/gatewayd`", path, path)
	}
	return path, nil
}

func (p *CustodyProcesses) file(name string) string { return filepath.Join(p.dir, name) }

// configure makes the wallet and both configurations: the keys are in the signer's only.
func (p *CustodyProcesses) configure(ctx context.Context, o CustodyOptions, source string, chainID uint64, exchange string) error {
	options := dev.Options{Dir: p.file("daemon"), Sweep: dev.EveryMinute, Period: o.Period, Interval: o.Period}
	options.Finality, options.Confirmations = o.Finality, o.Confirmations
	if o.Source != "embedded" {
		options.Source = source
	}
	var err error
	if options.Listen, err = freeAddress(); err != nil {
		return err
	}
	c := dev.Config(options, source, chainID, exchange)
	c.Log.Level = "info"
	if err := errors.Join(os.MkdirAll(c.Data, 0o700), os.WriteFile(p.file("password"), []byte("a demo's\n"), 0o600)); err != nil {
		return err
	}
	store, err := p.recover(ctx)
	if err != nil {
		return err
	}
	p.daemonConfig, p.signerConfig = c, c
	p.daemonConfig.Wallet = config.Wallet{Signer: "unix:" + p.file("signer.sock")}
	s := &p.signerConfig
	s.Data, s.Exchange, s.Database.URL = p.file("signer"), nil, ""
	s.Wallet = config.Wallet{Store: store, PasswordFile: p.file("password")}
	s.Signer.Place = remote.Config{Listen: p.daemonConfig.Wallet.Signer}
	if o.Inside {
		p.daemonConfig.Wallet = s.Wallet
	}
	if o.side != nil {
		addSide(s, o.side)
	}
	p.list, p.key = p.file("sanctions"), p.file("ann.key")
	if err := errors.Join(os.WriteFile(p.list, []byte("# nobody yet\n"), 0o600), p.write("config.yaml", p.daemonConfig), p.write("signer.yaml", p.signerConfig)); err != nil {
		return err
	}
	p.Info = dev.NewInfo(p.daemonConfig, p.file("config.yaml"), "")
	return p.Info.Write(p.file("dev.json"))
}

// sideChain is a second source chain of the signer, and its network.
const sideChain = "side"

// addSide adds a source chain to the signer's configuration, whose accounts have the same keys.
func addSide(c *config.Config, n *ethnode.Node) {
	first := c.Ethereum[0]
	c.Ethereum = append(slices.Clone(c.Ethereum), ethereum.Config{ID: sideChain, ChainID: n.ChainID(), Nodes: []string{n.URL()}, Finality: first.Finality})
	side := c.Networks[0]
	side.Name, side.Path, side.Source, side.Account = sideChain, "/gateway/"+sideChain, sideChain, 1
	c.Networks = append(slices.Clone(c.Networks), side)
	c.Fill()
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// recover makes the wallet of the public words.
func (p *CustodyProcesses) recover(ctx context.Context) (store string, err error) {
	c := p.command(ctx, "wallet", "recover", "--dir", p.file("wallet"), "--password-file", p.file("password"))
	c.Stdin = strings.NewReader(dev.Mnemonic + "\n")
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("making the wallet: %w", err)
	}
	found := regexp.MustCompile(`(?m)^Store: (.*)$`).FindSubmatch(out)
	if found == nil {
		return "", errors.New("making the wallet: no store is named")
	}
	return string(found[1]), nil
}

func (p *CustodyProcesses) write(name string, c config.Config) error {
	text, err := yaml.Marshal(c)
	if err == nil {
		err = os.WriteFile(p.file(name), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func (p *CustodyProcesses) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.program, args...)
	c.Args[0] = "gatewayd"
	return c
}

// runCommand runs a command on the daemon's configuration and returns its output.
func (p *CustodyProcesses) runCommand(ctx context.Context, args ...string) (string, error) {
	out, err := p.command(ctx, append(args, "-c", p.file("config.yaml"))...).CombinedOutput()
	return string(out), err
}

// Start starts the signer, unless it is inside the daemon, and the daemon, and waits until both
// answer.
func (p *CustodyProcesses) Start(ctx context.Context) (err error) {
	if p.daemonConfig.Wallet.Signer != "" {
		if err := p.startSigner(ctx); err != nil {
			return err
		}
	}
	if p.daemon, err = p.run(ctx, &lines{}, "run", "-c", p.file("config.yaml")); err != nil {
		return err
	}
	_, err = dev.AwaitDaemon(ctx, p.file("dev.json"), dev.Info{})
	return err
}

// PIDs are the daemon's process and the signer's, if it is separate.
func (p *CustodyProcesses) PIDs() []int {
	pids := []int{p.daemon.Process.Pid}
	if p.signer != nil {
		pids = append(pids, p.signer.Process.Pid)
	}
	return pids
}

// run starts a process that is ended with the demo.
func (p *CustodyProcesses) run(ctx context.Context, log *lines, args ...string) (*exec.Cmd, error) {
	c := p.command(ctx, args...)
	c.Stderr = log
	if err := c.Start(); err != nil {
		return nil, err
	}
	p.onClose(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait() // it was asked to end
	})
	return c, nil
}

func (p *CustodyProcesses) onClose(f func()) { p.closers = append(p.closers, f) }

func (p *CustodyProcesses) close() {
	for i := len(p.closers) - 1; i >= 0; i-- {
		p.closers[i]()
	}
}

// waitForLog waits until the signer's log has a line so many times.
func (p *CustodyProcesses) waitForLog(ctx context.Context, what string, times int) error {
	return dev.Poll(ctx, func() (bool, error) {
		return p.log.count(what) >= times, nil
	})
}

// reload has the signer's owner change its configuration, and the daemon ask again about what is
// held.
func (p *CustodyProcesses) reload(ctx context.Context, change func(*config.Config)) error {
	if err := p.reloadSigner(ctx, change); err != nil {
		return err
	}
	if out, err := p.runCommand(ctx, "reload"); err != nil {
		return fmt.Errorf("reloading the daemon: %w: %s", err, out)
	}
	return nil
}

// reloadSigner has the signer's owner change its configuration.
func (p *CustodyProcesses) reloadSigner(ctx context.Context, change func(*config.Config)) error {
	const again = "lists reloaded"
	change(&p.signerConfig)
	if err := p.write("signer.yaml", p.signerConfig); err != nil {
		return err
	}
	before := p.log.count(again)
	if err := p.signer.Process.Signal(syscall.SIGHUP); err != nil {
		return err
	}
	return p.waitForLog(ctx, again, before+1)
}

// restartSigner has the signer's owner end it, do something, and start it again.
func (p *CustodyProcesses) restartSigner(ctx context.Context, meanwhile func() error) (err error) {
	if err := p.signer.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	_ = p.signer.Wait() // it was asked to end
	if err := meanwhile(); err != nil {
		return err
	}
	return p.startSigner(ctx)
}

func (p *CustodyProcesses) startSigner(ctx context.Context) (err error) {
	const answers = "the signer answers"
	before := p.log.count(answers)
	if p.signer, err = p.run(ctx, &p.log, "signer", "-c", p.file("signer.yaml")); err != nil {
		return err
	}
	return p.waitForLog(ctx, answers, before+1)
}

// lines is a process's output.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to them.
func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *lines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}
