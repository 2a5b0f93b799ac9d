package daemon

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// What a release sets with the linker's -X, so that its bytes do not depend on the checkout it is
// built in.
var version, commit string

// Info is the output of `gatewayd version`.
type Info struct {
	Version  string `json:"version"` // of the release; else what Go made of the checkout
	Commit   string `json:"commit"`  // empty when unknown; ends with +dirty when the checkout had changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Read describes the running program.
func Read() Info {
	info := Info{Version: version, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if built, ok := debug.ReadBuildInfo(); ok {
		info.Version = cmp.Or(info.Version, built.Main.Version)
		info.Commit = cmp.Or(info.Commit, checkout(built.Settings))
	}
	info.Version = cmp.Or(info.Version, "(devel)")
	return info
}

// checkout is the commit that Go stamped.
func checkout(settings []debug.BuildSetting) string {
	var revision, dirty string
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}
