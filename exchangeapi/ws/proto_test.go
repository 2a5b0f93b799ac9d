package ws

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"gatewayd/exchangeapi/index"
)

// servedProto compiles the file that the hub serves.
func servedProto(t *testing.T, r *rig) protoreflect.MessageDescriptors {
	t.Helper()
	answer, err := http.Get("http" + strings.TrimPrefix(r.url, "ws") + "/exchange.proto")
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(map[string]string{"exchange.proto": string(text)})}}
	files, err := compiler.Compile(t.Context(), "exchange.proto")
	require.NoError(t, err)
	return files[0].Messages()
}

// decode reads bytes as a message of the file. Nothing in them is unknown to it.
func decode(t *testing.T, messages protoreflect.MessageDescriptors, name string, data []byte) map[string]any {
	t.Helper()
	m := dynamicpb.NewMessage(messages.ByName(protoreflect.Name(name)))
	require.NoError(t, proto.Unmarshal(data, m), name)
	requireKnown(t, m)
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	require.NoError(t, err)
	return fields(t, string(text))
}

func requireKnown(t *testing.T, m protoreflect.Message) {
	t.Helper()
	require.Empty(t, m.GetUnknown(), m.Descriptor().Name())
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() != nil && f.IsList():
			for i := range v.List().Len() {
				requireKnown(t, v.List().Get(i).Message())
			}
		case f.Message() != nil:
			requireKnown(t, v.Message())
		}
		return true
	})
}

// TestProtoFile: a generated reader of the published file reads all that is pushed in the binary
// shape, and a generated writer is understood.
func TestProtoFile(t *testing.T) {
	r := setup(t, Config{})
	messages := servedProto(t, r)
	say := func(c *client, members string) {
		m := dynamicpb.NewMessage(messages.ByName("Envelope"))
		require.NoError(t, protojson.Unmarshal([]byte(members), m))
		data, err := proto.Marshal(m)
		require.NoError(t, err)
		c.sendBinary(data)
	}
	c := r.dial("/websocket")
	hear := func() map[string]any { return decode(t, messages, "Envelope", []byte(c.readFrame())) }
	say(c, `{"client_id":"w","op_type":"auth","key":"K","timestamp":"7","signature":"good"}`)
	require.Equal(t, map[string]any{"op_type": "auth"}, hear())
	o := sampleOrder()
	o.InnerID = sampleTrade().SellOrder
	r.feed.called = map[string]string{o.ID: "mine"}
	topics := map[string]string{
		orderTopic(address): "Order", openTopic(o.Symbol, address): "OrderList", accountTopic(address): "AccountEvent", tradeTopic("VITE_BTC-000"): "TradeList",
		depthTopic("VX_VITE"): "DepthList", updatesTopic("VX_VITE"): "DepthUpdate", tickerTopic("VX_VITE"): "TickerStatistics", klineTopic("VX_VITE", "minute"): "Kline",
	}
	seen := map[string]map[string]any{}
	hearUntil := func(pushes, subscribed int) {
		for pushes > 0 || subscribed > 0 {
			e := hear()
			if e["op_type"] != "push" {
				require.Equal(t, "sub", e["op_type"])
				subscribed--
				continue
			}
			pushes--
			data, err := json.Marshal(e["message"])
			require.NoError(t, err)
			var raw []byte // protojson has bytes in base64, as encoding/json does
			require.NoError(t, json.Unmarshal(data, &raw))
			topic, _ := e["topics"].(string)
			seen[topic] = decode(t, messages, topics[topic], raw)
		}
	}
	for topic := range topics {
		say(c, `{"client_id":"w","op_type":"sub","topics":"`+topic+`"}`)
	}
	hearUntil(1, len(topics)) // the book
	u := everything()
	u.Orders[0] = o
	r.feed.push(u)
	hearUntil(len(topics)+1, 0) // the account's topic has an order and a fill
	require.Len(t, seen, len(topics))
	require.Equal(t, "mine", seen[orderTopic(address)]["clientOrderId"])
	require.Equal(t, sampleTrade().ID, seen[accountTopic(address)]["fill"].(map[string]any)["tradeId"])
	require.Equal(t, sampleTrade().ID, seen[tradeTopic("VITE_BTC-000")]["trade"].([]any)[0].(map[string]any)["tradeId"])
	require.Equal(t, "3.2255", seen[tickerTopic("VX_VITE")]["openPrice"])
	require.Equal(t, 79.9, seen[klineTopic("VX_VITE", "minute")]["v"])
	book := seen[updatesTopic("VX_VITE")]
	require.Equal(t, "78.2", book["asks"].([]any)[0].(map[string]any)["quantity"])
	require.NotEmpty(t, book["last"])
	require.Equal(t, index.Level{Price: "3.3240", Quantity: "78.2"}, sampleDepth().Asks[0])

	described := describedProto(t)
	require.Contains(t, described, `message DepthUpdate {`, "the AsyncAPI document carries the same file")
}

// describedProto is the file in the served description.
func describedProto(t *testing.T) string {
	t.Helper()
	text, err := description(Config{}.withDefaults())
	require.NoError(t, err)
	var doc struct {
		Components struct {
			Proto string `json:"x-proto"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &doc))
	return doc.Components.Proto
}
