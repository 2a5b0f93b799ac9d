package ws

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEverySampleHasATest: the published samples are those that the tests of samples walk, and no
// others. Who adds one, adds its check.
func TestEverySampleHasATest(t *testing.T) {
	text, err := os.ReadFile("testdata/ws_samples.json")
	require.NoError(t, err)
	var file map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &file))
	names := func(raw json.RawMessage) []string {
		var m map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &m))
		return slices.Sorted(maps.Keys(m))
	}
	require.Equal(t, []string{"new_json", "old_json", "protobuf", "topics"}, names(text))
	require.Equal(t, []string{"address", "frames", "notes", "ping", "pushes", "sub", "sub_many", "un_sub"}, names(file["new_json"]))
	require.Equal(t, []string{"address", "frames", "notes", "ping", "pushes", "sub", "un_sub"}, names(file["old_json"]))
	require.Equal(t, []string{"address", "envelope", "frames", "payloads", "samples_encoded_here"}, names(file["protobuf"]))
	var protobuf struct{ Payloads json.RawMessage }
	require.NoError(t, json.Unmarshal(file["protobuf"], &protobuf))
	require.Equal(t, []string{"Depth", "DepthList", "Kline", "Order", "OrderList", "TickerStatistics", "Trade", "TradeList"}, names(protobuf.Payloads))
	s := readSamples(t)
	var pushed []string
	for _, p := range s.NewJSON.Pushes {
		topic, ok := parseTopic(p.Topic)
		require.True(t, ok, p.Topic)
		pushed = append(pushed, string(rune('0'+topic.kind)))
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(pushed))), 5, "one push of each kind")
	require.Len(t, s.OldJSON.Pushes, 5)
	require.Len(t, s.Protobuf.Samples, 8)
	require.Len(t, s.Topics, 9)
}
