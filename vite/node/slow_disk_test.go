package node

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// slowDisk is a disk whose reads wait, once it is slow, until they are released.
type slowDisk struct {
	vfs.FS
	slow    atomic.Bool
	reached chan struct{} // gets a signal when a read waits
	release chan struct{} // closed to let reads continue
}

// Open opens a file for reading.
func (d *slowDisk) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	f, err := d.FS.Open(name, options...)
	if err != nil {
		return nil, err
	}
	return &slowFile{f, d}, nil
}

type slowFile struct {
	vfs.File
	disk *slowDisk
}

// ReadAt waits while the disk is slow.
func (f *slowFile) ReadAt(p []byte, offset int64) (int, error) {
	if f.disk.slow.Load() {
		select {
		case f.disk.reached <- struct{}{}:
		default:
		}
		<-f.disk.release
	}
	return f.File.ReadAt(p, offset)
}
