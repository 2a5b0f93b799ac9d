package recordstest

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// StatementsFile names, in the environment, a file to which the stores of tests write every statement that they run: one Statement of JSON a line.
const StatementsFile = "GATEWAYD_TEST_STATEMENTS"

// Statement is an SQL text, as the engine got it, and who ran it: the function or method that is nearest to the caller of package records.
type Statement struct{ By, Text string }

// recorder writes to the file that the environment names, each statement once; nil without one.
func recorder(t testing.TB) func(string) {
	path := os.Getenv(StatementsFile)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	var mu sync.Mutex
	known := map[Statement]bool{}
	return func(text string) {
		s := Statement{entered(), text}
		mu.Lock()
		defer mu.Unlock()
		if known[s] {
			return
		}
		known[s] = true
		b, err := json.Marshal(s)
		require.NoError(t, err)
		_, err = f.Write(append(b, '\n'))
		require.NoError(t, err)
	}
}

// entered is the outermost function of package records on the stack before its caller's.
func entered() (name string) {
	const prefix = "gatewayd/records."
	pcs := make([]uintptr, 50)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		text, ours := strings.CutPrefix(f.Function, prefix)
		if ours && !strings.Contains(text, "func") {
			name = text
		} else if name != "" && !ours && !strings.HasPrefix(f.Function, "github.com/jmoiron") {
			break
		}
	}
	return name
}
