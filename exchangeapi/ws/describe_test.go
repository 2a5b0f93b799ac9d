package ws

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// document is the served description, as far as the tests read it.
type document struct {
	AsyncAPI string
	Info     struct{ Description string }
	SignIn   struct{ Secret string } `json:"x-sign-in"`
	Limits   map[string]float64      `json:"x-limits"`
	Closes   []struct {
		Code   int
		Reason string
	} `json:"x-closes"`
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

// Each example of a request gets the example of its name as an answer, and each error that a client
// of this shape can cause has one.
func TestDescribedAnswersAreTheServers(t *testing.T) {
	doc := served(t)
	r := setup(t, Config{Topics: 1})
	r.feed.books["DEMO-000_USDT-000"] = index.Depth{}
	requests, answers := doc.Components.Messages["commandRequest"].Examples, doc.Components.Messages["commandAnswer"].Examples
	require.Len(t, answers, len(requests))
	described := map[string]bool{}
	for i, e := range requests {
		require.Equal(t, e.Name, answers[i].Name)
		if e.Name != illegalOp.text() {
			doc.check(t, "CommandRequest", string(e.Payload))
		}
		doc.check(t, "CommandAnswer", string(answers[i].Payload))
		request := strings.ReplaceAll(string(e.Payload), signatureOf(doc), "good")
		if e.Name == opAuth {
			request = strings.NewReplacer("913423DE46E97751CCC734F018F09217", "K", "1795272689210", "7").Replace(request) // the fake takes no other
		}
		c := r.dial("/v2/ws")
		c.sendText(request)
		got := fields(t, c.readFrame())
		for got["event"] == "push" { // the book may precede the answer
			got = fields(t, c.readFrame())
		}
		want := fields(t, string(answers[i].Payload))
		if e.Name == opPing {
			got["timestamp"] = want["timestamp"]
		}
		require.Equal(t, want, got, e.Name)
		described[e.Name] = true
	}
	for _, f := range []fault{illegalTopic, illegalOp, notSignedIn, visitLimit, refusedSignIn, unavailable} {
		require.True(t, described[f.text()], f.text())
	}
}

// signatureOf is the signature that the description's secret gives for its example.
func signatureOf(doc document) string {
	mac := hmac.New(sha256.New, []byte(doc.SignIn.Secret))
	mac.Write([]byte("key=913423DE46E97751CCC734F018F09217&timestamp=1795272689210"))
	return hex.EncodeToString(mac.Sum(nil))
}

// The described reasons of closing a connection are those of the code, and its limits those of the
// configuration.
func TestDescriptionFitsClosesAndLimits(t *testing.T) {
	doc := served(t)
	codes := map[string]int{"GoingAway": websocket.CloseGoingAway, "PolicyViolation": websocket.ClosePolicyViolation, "ServiceRestart": websocket.CloseServiceRestart}
	var used, described []string
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range sources {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`\.end(?:Locked)?\(websocket\.Close(\w+), "([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			used = append(used, fmt.Sprint(codes[m[1]], " ", m[2]))
		}
	}
	for _, c := range doc.Closes {
		described = append(described, fmt.Sprint(c.Code, " ", c.Reason))
	}
	slices.Sort(used)
	require.ElementsMatch(t, slices.Compact(used), described)

	defaults := Config{}.withDefaults()
	require.Equal(t, defaults.Expiry.Seconds(), doc.Limits["subscriptionSeconds"])
	require.Equal(t, defaults.Close.Seconds(), doc.Limits["connectionSeconds"])
	require.EqualValues(t, defaults.Topics, doc.Limits["topics"])
	require.Contains(t, doc.Info.Description, fmt.Sprintf("After %.0f seconds without one the subscriptions end,\nafter %.0f the connection", defaults.Expiry.Seconds(), defaults.Close.Seconds()))
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
