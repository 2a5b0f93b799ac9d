package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestTry(t *testing.T) {
	scale, _ := strconv.ParseFloat(os.Getenv("SCALE"), 64)
	data := "/tmp/hist-try-" + os.Getenv("SCALE")
	r := &Run{Scale: scale, Dir: t.TempDir(), Data: data, Stderr: os.Stderr}
	if _, err := os.Stat(data); err != nil {
		if err := fillWaiting(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, past := range []bool{false, true} {
		for _, w := range []int{0, someWaiting, manyWaiting} {
			r.Dir = t.TempDir()
			f, err := r.payments(t.Context(), w, past)
			fmt.Println("FIG", past, w, f.CPU/2, f.Notes, err)
		}
		i := &Run{Scale: scale, Dir: t.TempDir(), Data: t.TempDir(), Stderr: os.Stderr}
		os.Symlink(waitingFolder(data, 0, past), filepath.Join(i.Data, "past"))
		f, err := idle(t.Context(), i)
		fmt.Println("IDLE", past, f, err)
	}
}
