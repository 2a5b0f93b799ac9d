package metrics

import "golang.org/x/sys/unix"

// diskSpace returns the free space and the size of a directory's file system, in bytes.
func diskSpace(directory string) (free, size uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(directory, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
