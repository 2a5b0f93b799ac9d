// Package backup writes a gateway's essential data into one file, next to the running daemon,
// verifies such a file, and restores it. It contains databases, the sign-guard, the log of an
// embedded exchange chain and the configuration; never keys, passwords or secrets. It does not
// decide the rights of a restored database: the daemon stops accounts that have signed more than
// the records contain, and operators resume them (docs/operations/recovery.md).
//
//	FILE (tar)   records.db | sign-guard/guard.db | exchange.db | apikeys.db
//	             | exchange-chain/blocks.log | ... | manifest.json | SHA256
package backup

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// What callers test for with errors.Is.
var (
	ErrDamaged = errors.New("the backup is damaged")
	ErrNewer   = errors.New("the backup was created by a newer gatewayd")
	ErrInUse   = errors.New("a daemon is running on it")
	ErrExists  = errors.New("already exists")
)

// format is the version of the file's own shape.
const format = 1

// Names in the file.
const (
	recordsName  = "records.db"
	guardName    = "sign-guard/guard.db"
	indexName    = "exchange.db"
	testName     = "exchange-test.db"
	keysName     = "apikeys.db"
	logName      = "exchange-chain/blocks.log"
	genesisName  = "exchange-chain/genesis.json"
	configName   = "config.yaml"
	manifestName = "manifest.json"
	digestName   = "SHA256"
)

// Manifest lists the contents of a backup.
type Manifest struct {
	Format  int       `json:"format"`
	Program string    `json:"program"`
	Made    time.Time `json:"made"` // when it was begun: everything in it is from then or later
	Files   []File    `json:"files"`
	Chains  []Cursor  `json:"chains"`
	// Absent lists the gateway's other data, which the file lacks, with the reason.
	Absent []Absent `json:"absent"`
}

// File is one file of a backup.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Schema int64  `json:"schema,omitempty"` // of a database
	Blocks uint64 `json:"snapshot_blocks,omitempty"`
}

// Cursor is the records' followed position of a chain.
type Cursor struct {
	Chain  string `json:"chain" db:"chain"`
	Height uint64 `json:"height" db:"height"`
	Hash   string `json:"hash" db:"hash"`
	Final  uint64 `json:"final_height" db:"final_height"`
}

// Absent is something that is kept elsewhere.
type Absent struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// entry is the file of a name; nil if there is none.
func (m Manifest) entry(name string) *File {
	i := slices.IndexFunc(m.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Files[i]
}

func (m Manifest) check() error {
	if m.Format > format {
		return fmt.Errorf("%w: format %d, this one knows %d", ErrNewer, m.Format, format)
	}
	for _, f := range m.Files {
		if _, known := find(f.Name); !known {
			return fmt.Errorf("%w: it holds %s, which this one does not know", ErrNewer, f.Name)
		}
	}
	return nil
}
