package ethtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/keystore"

	"gatewayd/dev/ethnode"
)

// launch starts the program with its output in LogFile.
func (n *Node) launch(c Config) error {
	program, err := find(c.Kind)
	if err != nil {
		return err
	}
	arguments, err := n.arguments(c)
	if err != nil {
		return err
	}
	log, err := os.Create(n.LogFile())
	if err != nil {
		return fmt.Errorf("making the log: %w", err)
	}
	defer log.Close()                                      // the child has its own descriptor
	life, kill := context.WithCancel(context.Background()) // Close ends it, not the context of Start
	command := exec.CommandContext(life, program, arguments...)
	command.Stdout, command.Stderr = log, log
	dieWithParent(command)
	if err := command.Start(); err != nil {
		kill()
		return fmt.Errorf("running %s: %w", program, err)
	}
	n.kill, n.exited = kill, make(chan struct{})
	go func() {
		defer close(n.exited)
		if n.ending = command.Wait(); n.ending == nil {
			n.ending = errors.New("exit status 0")
		}
	}()
	return nil
}

func (n *Node) arguments(c Config) ([]string, error) {
	seconds := strconv.Itoa(int(c.Period / time.Second))
	switch c.Kind {
	case Anvil:
		// The hardfork is pinned: gas costs differ between them. Two slots an epoch make a block
		// final four later.
		arguments := []string{"--host", "127.0.0.1", "--port", "0", "--hardfork", cmp.Or(c.Hardfork, "prague"), "--slots-in-an-epoch", "2"}
		if c.Period > 0 {
			arguments = append(arguments, "--block-time", seconds)
		}
		if c.Fork != "" {
			arguments = append(arguments, "--fork-url", c.Fork, "--no-storage-caching")
		}
		return arguments, nil
	case Geth:
		data, password, err := n.prepareGeth(c.Bare)
		apis := "eth,net,web3,debug,txpool"
		if c.Public {
			apis = "eth,net,web3"
		}
		return []string{
			"--dev", "--dev.period", seconds, "--dev.gaslimit", "30000000",
			"--datadir", data, "--password", password,
			"--gcmode", "archive", "--state.scheme", "hash", "--cache", "64",
			"--http", "--http.addr", "127.0.0.1", "--http.port", "0", "--http.api", apis,
			"--ipcdisable", "--nodiscover", "--maxpeers", "0", "--port", "0", "--log.format", "logfmt",
		}, err
	}
	return nil, fmt.Errorf("unknown kind of node %q", c.Kind)
}

// prepareGeth puts the faucet's key where geth --dev searches for the account that it gives all
// coins to.
func (n *Node) prepareGeth(bare bool) (data, password string, err error) {
	data, password = filepath.Join(n.dir, "data"), filepath.Join(n.dir, "password")
	if err := os.RemoveAll(data); err != nil {
		return "", "", fmt.Errorf("clearing geth's folder: %w", err)
	}
	if err := os.WriteFile(password, []byte("\n"), 0o600); err != nil {
		return "", "", fmt.Errorf("writing geth's password: %w", err)
	}
	if bare {
		return data, password, nil
	}
	store := keystore.NewKeyStore(filepath.Join(data, "keystore"), keystore.LightScryptN, keystore.LightScryptP)
	if _, err := store.ImportECDSA(ethnode.FaucetKey(), ""); err != nil {
		return "", "", fmt.Errorf("giving geth the faucet's key: %w", err)
	}
	return data, password, nil
}

// awaitAddress reads the log until it contains the node's address.
func (n *Node) awaitAddress(ctx context.Context) (string, error) {
	tells := regexp.MustCompile(`Listening on (127\.0\.0\.1:\d+)|HTTP server started.* endpoint=(127\.0\.0\.1:\d+) auth=false`)
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		log, err := os.ReadFile(n.LogFile())
		if err != nil {
			return "", fmt.Errorf("reading its log: %w", err)
		}
		if found := tells.FindSubmatch(log); found != nil {
			return string(found[1]) + string(found[2]), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for its address: %w", ctx.Err())
		case <-n.exited:
			return "", fmt.Errorf("it ended, %w; its log ends with %q", n.ending, lastLine(log))
		case <-tick.C:
		}
	}
}

func lastLine(log []byte) string {
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return lines[len(lines)-1]
}

// find searches for a program where the project's scripts install it, and then in PATH.
// GATEWAYD_ANVIL or GATEWAYD_GETH names another one.
func find(kind Kind) (string, error) {
	places := map[Kind]struct{ variable, path, script string }{
		Anvil: {"GATEWAYD_ANVIL", "build/npm/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil", "scripts/npm-install.sh"},
		Geth:  {"GATEWAYD_GETH", "build/bin/geth", "scripts/go-tool.sh geth"},
	}
	place, known := places[kind]
	if !known {
		return "", fmt.Errorf("unknown kind of node %q", kind)
	}
	if named := os.Getenv(place.variable); named != "" {
		return named, nil
	}
	if root, err := moduleRoot(); err == nil {
		if path := filepath.Join(root, place.path); executable(path) {
			return path, nil
		}
	}
	path, err := exec.LookPath(string(kind))
	if err != nil {
		return "", fmt.Errorf("it is not installed; %s does that", place.script)
	}
	return path, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// moduleRoot is the folder of go.mod at or above the working folder.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("reading the working folder: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("not inside a module")
		}
		dir = above
	}
}
