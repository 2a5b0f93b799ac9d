package daemon

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	info := Read()
	require.NotEmpty(t, info.Version)
	require.Equal(t, runtime.Version(), info.Go)
	require.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, info.Platform)
}

func TestCheckout(t *testing.T) {
	require.Empty(t, checkout(nil))
	require.Empty(t, checkout([]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}))
	require.Equal(t, "abc", checkout([]debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}}))
	require.Equal(t, "abc+dirty", checkout([]debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}))
}
