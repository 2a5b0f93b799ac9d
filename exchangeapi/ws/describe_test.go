package ws

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// document is the served description, as far as the tests read it.
type document struct {
	AsyncAPI   string
	Channels   map[string]struct{ Address string }
	Components struct {
		Schemas  openapi3.Schemas
		Messages map[string]struct {
			Examples []struct {
				Name, Summary string
				Payload       json.RawMessage
			}
		}
	}
}

func served(t *testing.T) document {
	r := setup(t, Config{})
	answer, err := http.Get("http" + strings.TrimPrefix(r.url, "ws") + "/asyncapi.json")
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, "application/json", answer.Header.Get("Content-Type"))
	data, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	var doc document
	require.NoError(t, json.Unmarshal(data, &doc))
	require.NoError(t, openapi3.NewLoader().ResolveRefsIn(&openapi3.T{OpenAPI: "3.0.3",
		Components: &openapi3.Components{Schemas: doc.Components.Schemas}}, nil))
	return doc
}

func (d document) check(t *testing.T, schema, message string) {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(message), &value), message)
	require.NoError(t, d.Components.Schemas[schema].Value.VisitJSON(value), "%s: %s", schema, message)
}

func TestDescriptionNamesThePaths(t *testing.T) {
	doc := served(t)
	require.Equal(t, "3.0.0", doc.AsyncAPI)
	var described []string
	for _, c := range doc.Channels {
		described = append(described, c.Address)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(homes())), described)
}

// All texts of the hub match the description, and so do the known messages of clients.
func TestDescriptionFitsMessages(t *testing.T) {
	doc := served(t)
	u := everything()
	payloads := map[string]payload{"Order": order(u.Orders[0]), "Trades": trades(u.Trades[0]), "TickerStatistics": ticker(u.Tickers[0]),
		"Kline": bar(u.Bars[0]), "Depth": depth(u.Depths[0]), "DepthUpdate": depthUpdate{symbol: "VX_VITE", asks: u.Depths[0].Asks},
		"AccountEvent": accountFill{Trade: u.Trades[0], order: &u.Orders[0], fee: "0.1"}}
	for name, p := range payloads {
		data := p.appendJSON(nil)
		doc.check(t, name, string(data))
		doc.check(t, "CommandPush", string(appendCommandPush(nil, "market.VX_VITE.trade", 1, data)))
		doc.check(t, "OpTypePush", string(appendOpTypePush(nil, data)))
	}
	for _, f := range []fault{noFault, illegalClientID, illegalTopic, illegalOp, notSignedIn, visitLimit, refusedSignIn, unavailable} {
		for _, op := range []string{opSub, opUnSub, opPong, ""} {
			r := reply{op: op, topics: []string{"a", "b"}, fault: f}
			doc.check(t, "CommandAnswer", string(r.command()))
			doc.check(t, "OpTypeAnswer", string(r.opType()))
		}
	}
	s := readSamples(t)
	for _, e := range []exchange{s.NewJSON.Ping, s.NewJSON.Sub, s.NewJSON.SubMany, s.NewJSON.UnSub} {
		doc.check(t, "CommandRequest", string(e.Send))
		doc.check(t, "CommandAnswer", string(e.Receive))
	}
	for _, m := range []json.RawMessage{s.OldJSON.Sub.Send, s.OldJSON.Ping.Send, s.OldJSON.UnSub.Send} {
		doc.check(t, "OpTypeRequest", string(m))
	}
}

// The described pattern of topics and the parser take the same ones.
func TestDescriptionFitsTopics(t *testing.T) {
	pattern := regexp.MustCompile(served(t).Components.Schemas["Topic"].Value.Pattern)
	for _, c := range topicCases() {
		_, ok := parseTopic(c.name)
		require.Equal(t, c.ok, ok, c.name)
		require.Equal(t, c.ok, pattern.MatchString(c.name), c.name)
	}
}

// Each kind of topic that is pushed as text has an example, whose name gives the topic's form.
func TestDescriptionHasAnExampleOfEachTopic(t *testing.T) {
	doc := served(t)
	described := map[kind]bool{kindOpen: true, kindHistory: true} // pushed in the binary shape only
	for _, e := range doc.Components.Messages["commandPush"].Examples {
		require.NotEmpty(t, e.Summary, e.Name)
		doc.check(t, "CommandPush", string(e.Payload))
		var push struct{ Topic string }
		require.NoError(t, json.Unmarshal(e.Payload, &push))
		got, ok := parseTopic(push.Topic)
		require.True(t, ok, push.Topic)
		described[got.kind] = true
		form := regexp.QuoteMeta(e.Name)
		form = regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(form, `[\w-]+`)
		require.Regexp(t, "^"+form+"$", push.Topic)
	}
	require.Len(t, described, int(kinds))
}
