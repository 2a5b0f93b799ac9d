package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"gatewayd/dev/demo"
)

// Cases are all of this package, in the order in which they are shown.
func bridgeCases() []Case {
	return append([]Case{paymentCase(), signerCase(), startCase()}, sourceCases()...)
}

// startCase measures a newcomer's wait.
func startCase() Case {
	return Case{
		Name: "dev", Unit: "start", Ours: startDev,
		About: "from `gatewayd dev` to the gateway's first answer: both chains, the exchange and the daemon are made and funded",
		Goals: []Goal{{Of: Wall, Budget: 1e9, Limit: 0.2e9, Absolute: true}},
	}
}

// startDev sends the first request that `gatewayd dev` suggests, as soon as it prints it.
func startDev(ctx context.Context, r *Run) (f Figure, err error) {
	exe, err := gatewayd()
	if err != nil {
		return Figure{}, err
	}
	start := time.Now()
	dev := exec.CommandContext(ctx, exe, "dev", "--listen", "127.0.0.1:0", "--exchange-listen", "127.0.0.1:0", "--api", "127.0.0.1:0")
	dev.Env = append(os.Environ(), "TMPDIR="+r.Dir) // directory of its description: another environment may run
	dev.Stderr = r.Stderr
	out, err := dev.StdoutPipe()
	if err == nil {
		err = dev.Start()
	}
	if err != nil {
		return Figure{}, fmt.Errorf("starting gatewayd dev: %w", err)
	}
	url, err := firstURL(out)
	if err == nil {
		err = answers(ctx, url)
	}
	f = Figure{Units: 1, Wall: time.Since(start)}
	err = errors.Join(err, dev.Process.Signal(syscall.SIGINT)) // as Ctrl-C does
	_, _ = io.Copy(io.Discard, out)                            // until it has ended
	if err = errors.Join(err, dev.Wait()); err != nil {
		return Figure{}, fmt.Errorf("gatewayd dev: %w", err)
	}
	f.CPU = dev.ProcessState.UserTime() + dev.ProcessState.SystemTime()
	return f, nil
}

// answers fails unless the gateway answers with a success.
func answers(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || !bytes.HasPrefix(body, []byte(`{"code":0,`))) {
		err = fmt.Errorf("asking for %s: the answer is %d %.200s", url, response.StatusCode, body)
	}
	return err
}

// gatewayd returns the path of the program next to this one. Without it the case is skipped.
func gatewayd() (string, error) {
	path, err := demo.Gatewayd()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrSkip, err)
	}
	return path, nil
}

// firstURL returns the suggested URL, once the environment is ready.
func firstURL(out io.Reader) (string, error) {
	curl := regexp.MustCompile(`^  curl '(.+)'$`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := curl.FindStringSubmatch(lines.Text()); found != nil {
			return found[1], nil
		}
	}
	return "", errors.New("it has ended without being ready")
}
