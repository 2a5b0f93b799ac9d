package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInterruptedBeforeItWasDone: a question does not keep a command from ending, and what was not
// done is no success.
func TestInterruptedBeforeItWasDone(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"config", "init", "-c", filepath.Join(t.TempDir(), "config.yaml")},
		{"wallet", "new", "--dir", t.TempDir()},
	} {
		cmd := exec.Command("gatewayd", args...)
		_, err := cmd.StdinPipe() // without a writer
		require.NoError(t, err)
		said, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // in vain once it has ended
		from := bufio.NewReader(said)
		_, err = from.ReadString(':') // of the question
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		var rest strings.Builder
		_, err = from.WriteTo(&rest)
		require.NoError(t, err)
		require.Error(t, cmd.Wait())
		require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
		require.Contains(t, rest.String(), "gatewayd: interrupted")
	}
}
