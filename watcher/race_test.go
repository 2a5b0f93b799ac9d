//go:build race

package watcher

// raced: the simulations go through a few of their deaths only, since everything takes ten times as
// long. The full number runs without the detector.
const raced = true
