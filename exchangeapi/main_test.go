package exchangeapi

import (
	"testing"

	"go.uber.org/goleak"
)

// No server outlives its test.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
