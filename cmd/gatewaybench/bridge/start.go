package bridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"gatewayd/cmd/gatewaybench/bench"
)

// startCases are what a newcomer waits for.
func startCases() []bench.Case {
	return []bench.Case{{
		Name: "dev", Group: bench.Bridge, Unit: "start", Ours: startDev,
		About:  "from `gatewayd dev` to the gateway's first answer: both chains, the exchange and the daemon are made and funded",
		Goals:  []bench.Goal{{Of: bench.Wall, Budget: 2e9, Limit: 1e9, Absolute: true}},
		Scales: []float64{1},
	}}
}

// startDev asks the gateway what `gatewayd dev` says to try first, as soon as it says so.
func startDev(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	exe, err := gatewayd()
	if err != nil {
		return bench.Figure{}, err
	}
	start := time.Now()
	dev, err := startWorld(ctx, r, exe)
	if err != nil {
		return bench.Figure{}, err
	}
	url, err := dev.firstURL()
	if err == nil {
		err = firstAnswer(ctx, url)
	}
	wall := time.Since(start)
	if err = errors.Join(err, dev.end()); err != nil {
		return bench.Figure{}, err
	}
	used := dev.ProcessState.UserTime() + dev.ProcessState.SystemTime()
	return bench.Figure{Units: 1, CPU: used, Wall: wall}, nil
}

// gatewayd is the program beside this one.
func gatewayd() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	exe := filepath.Join(filepath.Dir(self), "gatewayd")
	if _, err := os.Stat(exe); err != nil {
		return "", fmt.Errorf("%w: %s is not there (make build)", bench.ErrSkip, exe)
	}
	return exe, nil
}

// world is a running `gatewayd dev`.
type world struct {
	*exec.Cmd
	out io.Reader
}

func startWorld(ctx context.Context, r *bench.Run, exe string) (*world, error) {
	w := &world{Cmd: exec.CommandContext(ctx, exe, "dev", "--listen", "127.0.0.1:0", "--exchange-listen", "127.0.0.1:0", "--api", "127.0.0.1:0")}
	w.Env = append(os.Environ(), "TMPDIR="+r.Dir) // where it describes itself: somebody may have a world of their own
	w.Stderr = r.Stderr
	var err error
	if w.out, err = w.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("starting gatewayd dev: %w", err)
	}
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("starting gatewayd dev: %w", err)
	}
	return w, nil
}

// firstURL is what to try, once the world is ready.
func (w *world) firstURL() (string, error) {
	curl := regexp.MustCompile(`^  curl '(.+)'$`)
	for lines := bufio.NewScanner(w.out); lines.Scan(); {
		if found := curl.FindStringSubmatch(lines.Text()); found != nil {
			return found[1], nil
		}
	}
	return "", errors.New("gatewayd dev has ended without being ready")
}

func firstAnswer(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", url, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err == nil && !strings.HasPrefix(string(body), bench.Success) {
		err = fmt.Errorf("asking for %s: the answer is %.100s", url, body)
	}
	return err
}

// end stops the world as Ctrl-C does.
func (w *world) end() error {
	if err := w.Process.Signal(syscall.SIGINT); err != nil {
		return fmt.Errorf("stopping gatewayd dev: %w", err)
	}
	if _, err := io.Copy(io.Discard, w.out); err != nil {
		return fmt.Errorf("stopping gatewayd dev: %w", err)
	}
	if err := w.Wait(); err != nil {
		return fmt.Errorf("stopping gatewayd dev: %w", err)
	}
	return nil
}
