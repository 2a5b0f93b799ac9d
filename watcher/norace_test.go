//go:build !race

package watcher

const raced = false
