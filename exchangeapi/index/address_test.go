package index

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidAddress(t *testing.T) {
	const good = "vite_cc392cbb42a22eebc9136c6f9ba416d47d19f3be1a1bd2c072"
	tests := map[string]bool{
		good:                                true,
		good[:54] + "3":                     false, // checksum
		strings.ToUpper(good):               false,
		"vite_" + strings.ToUpper(good[5:]): false,
		good + "0":                          false,
		good[:54]:                           false,
		good[5:]:                            false,
		"":                                  false,
		"vite_0000000000000000000000000000000000000006e82b8ba657": true, // a contract
	}
	for text, want := range tests {
		require.Equal(t, want, ValidAddress(text), text)
	}
}
