// Package bitcoinnode runs nodes of Bitcoin and Litecoin as child processes for development and
// tests, with what is done to them there: mine, pay, leave a branch, connect. Its keys are public.
package bitcoinnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Kind names a program.
type Kind string

// The programs. Both make a network of their own (regtest), on which blocks need hardly any work.
const (
	Btcd      Kind = "btcd"
	Litecoind Kind = "litecoind"
)

// The names of the networks in the configuration.
const (
	BitcoinNetwork  = "bitcoin-regtest"
	LitecoinNetwork = "litecoin-regtest"
)

const (
	user     = "test"
	password = "secret"
	// requestTimeout bounds each control on a busy machine.
	requestTimeout = time.Minute
)

// Config selects the node to start.
type Config struct {
	Kind Kind
	// Miner is the address that blocks of btcd pay.
	Miner string
	// TLS makes btcd answer over HTTPS, with a certificate of its own.
	TLS bool
	// Args are further arguments of the program.
	Args []string
}

// Node is a running child process.
type Node struct {
	*Client
	kind      Kind
	dir       string
	kill      context.CancelFunc
	process   *os.Process
	exited    chan struct{} // closed when the process has ended
	ending    error         // how; read after exited
	rpc, peer string        // addresses
	tls       bool
}

// Start runs the program and waits until it answers. The context bounds the start alone; the
// process lives until Close.
//
// Errors: a program that is not installed (names the script that installs it), one that ends early
// (names its last words).
func Start(ctx context.Context, c Config) (*Node, error) {
	n := &Node{kind: c.Kind, tls: c.TLS}
	if err := n.start(ctx, c); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", c.Kind, err), n.Close())
	}
	return n, nil
}

func (n *Node) start(ctx context.Context, c Config) (err error) {
	if n.dir, err = os.MkdirTemp("", "gatewayd-"+string(n.kind)+"-"); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if n.rpc, err = freeAddress(); err != nil {
		return err
	}
	if n.peer, err = freeAddress(); err != nil {
		return err
	}
	n.Client = NewClient(n.URL())
	program, err := find(c.Kind)
	if err != nil {
		return err
	}
	log, err := os.Create(n.logFile())
	if err != nil {
		return fmt.Errorf("making the log: %w", err)
	}
	defer log.Close()                                      // the child has its own descriptor
	life, kill := context.WithCancel(context.Background()) // Close ends it, not the context of Start
	command := exec.CommandContext(life, program, append(n.arguments(c), c.Args...)...)
	command.Stdout, command.Stderr = log, log
	dieWithParent(command)
	if err := command.Start(); err != nil {
		kill()
		return fmt.Errorf("running %s: %w", program, err)
	}
	n.kill, n.process, n.exited = kill, command.Process, make(chan struct{})
	go func() {
		defer close(n.exited)
		n.ending = command.Wait()
	}()
	return n.await(ctx)
}

func (n *Node) arguments(c Config) []string {
	_, rpcPort, _ := net.SplitHostPort(n.rpc)
	_, peerPort, _ := net.SplitHostPort(n.peer)
	if c.Kind == Btcd {
		arguments := []string{
			"--regtest", "--nodnsseed", "--nobanning", "--noonion", "--datadir", n.dir, "--logdir", filepath.Join(n.dir, "logs"), "--configfile", filepath.Join(n.dir, "none"),
			"--rpcuser", user, "--rpcpass", password, "--rpclisten", n.rpc, "--listen", n.peer, "--rpcmaxclients", "50",
			"--rpccert", n.Certificate(), "--rpckey", filepath.Join(n.dir, "key"),
		}
		if !c.TLS {
			arguments = append(arguments, "--notls")
		}
		if c.Miner != "" {
			arguments = append(arguments, "--miningaddr", c.Miner)
		}
		return arguments
	}
	return []string{
		"-regtest", "-server", "-datadir=" + n.dir, "-rpcuser=" + user, "-rpcpassword=" + password, "-rpcport=" + rpcPort, "-rpcbind=127.0.0.1", "-rpcallowip=127.0.0.1",
		"-bind=127.0.0.1:" + peerPort, "-dnsseed=0", "-discover=0", "-listenonion=0", "-printtoconsole=1", "-fallbackfee=0.0001", "-dbcache=8",
	}
}

// Signal sends a signal to the process, such as one that stops it for a while.
func (n *Node) Signal(s os.Signal) error { return n.process.Signal(s) }

// await waits until the node answers.
func (n *Node) await(ctx context.Context) error {
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		err := n.Call(new(uint64), "getblockcount")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for its answers: %w: %w", ctx.Err(), err)
		case <-n.exited:
			log, _ := os.ReadFile(n.logFile())
			return fmt.Errorf("it ended, %w; its log ends with %q", errors.Join(n.ending, errors.New("early")), log[max(0, len(log)-300):])
		case <-tick.C:
		}
	}
}

func (n *Node) logFile() string { return filepath.Join(n.dir, "log") }

// freeAddress is an address of this machine that was free a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// Close ends the process and waits for it. It may be called again.
func (n *Node) Close() error {
	if n.kill != nil {
		n.kill()
		<-n.exited
	}
	if n.Client != nil {
		n.http.CloseIdleConnections()
	}
	if err := os.RemoveAll(n.dir); err != nil {
		return fmt.Errorf("removing the node's folder: %w", err)
	}
	return nil
}

// URL is the address of JSON-RPC with user and password.
func (n *Node) URL() string { return WithPassword(n.Address()) }

// Certificate is the file with the certificate of a node with TLS.
func (n *Node) Certificate() string { return filepath.Join(n.dir, "certificate") }

// WithPassword adds the nodes' user and password to the URL of a proxy.
func WithPassword(url string) string {
	return strings.Replace(url, "://", "://"+user+":"+password+"@", 1)
}

// Password is the user and the password as in a cookie file.
func Password() string { return user + ":" + password }

// Address is the address of JSON-RPC without user and password.
func (n *Node) Address() string {
	if n.tls {
		return "https://" + n.rpc
	}
	return "http://" + n.rpc
}

// find searches for a program where the project's scripts install it, then in PATH. GATEWAYD_BTCD
// or GATEWAYD_LITECOIND names another one.
func find(kind Kind) (string, error) {
	places := map[Kind]struct{ variable, path, script string }{
		Btcd:      {"GATEWAYD_BTCD", "build/bin/btcd", "scripts/go-tool.sh btcd"},
		Litecoind: {"GATEWAYD_LITECOIND", "build/litecoind/litecoind", "scripts/litecoind.sh"},
	}
	place, known := places[kind]
	if !known {
		return "", fmt.Errorf("unknown kind of node %q", kind)
	}
	if named := os.Getenv(place.variable); named != "" {
		return named, nil
	}
	for dir, err := os.Getwd(); err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		if path := filepath.Join(dir, place.path); executable(path) {
			return path, nil
		}
	}
	if path, err := exec.LookPath(string(kind)); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("it is not installed: `%s` does that, or a package that puts it in PATH", place.script)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
