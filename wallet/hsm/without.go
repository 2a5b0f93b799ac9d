//go:build !pkcs11

package hsm

import (
	"errors"
	"fmt"
)

// Keys are none: this program was built without PKCS#11.
type Keys struct{ Software }

// Open returns an error: this program was built without PKCS#11.
func Open(Config, string, Software) (*Keys, error) {
	return nil, fmt.Errorf("%w: this program was built without it; build it with `go build -tags pkcs11 ./cmd/gatewayd`", ErrModule)
}

// Close does nothing.
func (*Keys) Close() error { return errors.ErrUnsupported }
