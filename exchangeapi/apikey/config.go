package apikey

import (
	"time"
)

// Config selects the store of API keys and the key that encrypts their secrets.
type Config struct {
	// URL is "sqlite:PATH" or "postgres://user@host/name?...". The password of a server belongs in
	// PGPASSFILE or PGPASSWORD.
	URL string
	// Secret is the 32-byte key that secrets are encrypted with. Another one than the database was
	// made with is ErrWrongSeal.
	Secret []byte
	// Shared guards against repeats in the database also where that is SQLite's, for several
	// programs on one file.
	Shared bool
	Now    func() time.Time // nil means time.Now
}
