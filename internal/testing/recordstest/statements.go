package recordstest

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// StatementsFile names, in the environment, a file to which the stores of tests write every
// statement that they run: one Statement of JSON a line.
const StatementsFile = "GATEWAYD_TEST_STATEMENTS"

// Statement is an SQL text, as the engine got it, and its origin: the function or method of
// records, or of a reader of its tables, that is nearest to the caller.
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

// plannedPackages are the packages whose statements are planned.
var plannedPackages = regexp.MustCompile(`^gatewayd/(?:records/)?(records|view|books|sqlstore)\.(.*)$`)

// entered is the outermost function of these packages on the stack before its caller's: its
// package, but for records, and its name.
func entered() (name string) {
	pcs := make([]uintptr, 50)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		m := plannedPackages.FindStringSubmatch(f.Function)
		if m != nil && !strings.Contains(m[2], "func") {
			name = strings.TrimPrefix(m[1]+"."+m[2], "records.")
		} else if name != "" && m == nil && !strings.HasPrefix(f.Function, "github.com/jmoiron") {
			break
		}
	}
	return name
}
