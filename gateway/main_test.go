package gateway

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

// No server and no call to a store outlives its test.
func TestMain(m *testing.M) { goleak.VerifyTestMain(closing{m}) }

type closing struct{ *testing.M }

func (c closing) Run() int {
	defer http.DefaultClient.CloseIdleConnections()
	return c.M.Run()
}
