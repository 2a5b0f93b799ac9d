package faults

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A node lies in answers to single requests and to batches, and refusals stay what they are.
func TestLies(t *testing.T) {
	tell := func(method string, _ []any, result json.RawMessage) any {
		if method == "b" {
			return "0x9"
		}
		return result
	}
	batch, err := bend([]byte(`[{"id":1,"method":"a"},{"id":2,"method":"b"}]`), []byte(`[{"id":2,"result":"0x2"},{"id":1,"result":"0x1"}]`), tell)
	require.NoError(t, err)
	require.JSONEq(t, `[{"id":2,"result":"0x9"},{"id":1,"result":"0x1"}]`, string(batch))
	one, err := bend([]byte(`{"id":7,"method":"b"}`), []byte(`{"id":7,"error":{"code":-1}}`), tell)
	require.NoError(t, err)
	require.JSONEq(t, `{"id":7,"error":{"code":-1}}`, string(one))
}
