package metrics

import "golang.org/x/sys/unix"

// diskSpace is what the file system of a directory has left for us, and how large it is, in bytes.
func diskSpace(directory string) (free, size uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(directory, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
