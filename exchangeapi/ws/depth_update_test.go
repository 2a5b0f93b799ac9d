package ws

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

const vxUpdates = "market.VX_VITE.depth.updates"

func levels(pairs ...string) (list []index.Level) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, index.Level{Price: pairs[i], Quantity: pairs[i+1]})
	}
	return list
}

// heardUpdate is a push of the updates topic as a client reads it.
type heardUpdate struct {
	Symbol      string `json:"s"`
	First, Last uint64
	Snapshot    bool
	Asks, Bids  [][2]string
}

func (c *client) update() (u heardUpdate) {
	c.t.Helper()
	var push struct {
		Topic string
		Data  heardUpdate
	}
	require.NoError(c.t, json.Unmarshal([]byte(c.readFrame()), &push))
	require.Equal(c.t, vxUpdates, push.Topic)
	return push.Data
}

func subscribe(topics ...string) string {
	return `{"command":"sub","params":["` + strings.Join(topics, `","`) + `"]}`
}

// follow subscribes to the book's updates and is the book at the start; the answer may come before
// it or after.
func (c *client) follow() heardUpdate {
	c.t.Helper()
	c.sendText(subscribe(vxUpdates))
	var frames []string
	for range 2 {
		frames = append(frames, c.readFrame())
	}
	for _, f := range frames {
		var push struct {
			Event string
			Data  heardUpdate
		}
		require.NoError(c.t, json.Unmarshal([]byte(f), &push))
		if push.Event == "push" {
			require.True(c.t, push.Data.Snapshot, f)
			return push.Data
		}
	}
	require.Fail(c.t, "no book", frames)
	return heardUpdate{}
}

// TestDepthUpdates: the book first, then the differences, numbered without a gap; a book without a
// change is not pushed.
func TestDepthUpdates(t *testing.T) {
	r := setup(t, Config{})
	r.feed.books["VX_VITE"] = index.Depth{Symbol: "VX_VITE", Asks: levels("9.50", "1", "10.00", "2"), Bids: levels("9.00", "3", "8.00", "4")}
	c := r.dial("/v2/ws")
	first := c.follow()
	require.Equal(t, [][2]string{{"9.50", "1"}, {"10.00", "2"}}, first.Asks)
	require.Equal(t, [][2]string{{"9.00", "3"}, {"8.00", "4"}}, first.Bids)
	require.Equal(t, first.First, first.Last)

	tell := func(asks, bids []index.Level) {
		r.feed.push(index.Update{Depths: []index.Depth{{Symbol: "VX_VITE", Asks: asks, Bids: bids}}})
	}
	tell(levels("9.60", "5", "10.00", "2"), levels("9.00", "3", "8.00", "4.5", "7.00", "1"))
	one := c.update()
	require.Equal(t, heardUpdate{"VX_VITE", first.Last + 1, first.Last + 1, false, [][2]string{{"9.50", "0"}, {"9.60", "5"}}, [][2]string{{"8.00", "4.5"}, {"7.00", "1"}}}, one)
	tell(levels("9.60", "5", "10.00", "2"), levels("9.00", "3", "8.00", "4.5", "7.00", "1"))
	tell(nil, nil)
	gone := c.update()
	require.Equal(t, one.Last+1, gone.First)
	require.Len(t, gone.Asks, 2)
	require.Len(t, gone.Bids, 3)

	late := r.dial("/v2/ws")
	require.Equal(t, heardUpdate{"VX_VITE", gone.Last, gone.Last, true, [][2]string{}, [][2]string{}}, late.follow())
	again := c.follow()
	require.True(t, again.Snapshot, "who subscribes again has the book again")
	tell(levels("1.00", "1"), nil)
	for _, one := range []*client{c, late} {
		require.Equal(t, heardUpdate{"VX_VITE", gone.Last + 1, gone.Last + 1, false, [][2]string{{"1.00", "1"}}, [][2]string{}}, one.update())
	}
}

// TestDepthUpdatesInOtherShapes: the same as JSON without a topic and as a protobuf message.
func TestDepthUpdatesInOtherShapes(t *testing.T) {
	r := setup(t, Config{})
	r.feed.books["VX_VITE"] = index.Depth{Symbol: "VX_VITE", Asks: levels("9.50", "1")}
	old, bin := r.dial("/ws"), r.dial("/websocket")
	old.sendText(`{"clientId":"c","opType":"sub","topics":"` + vxUpdates + `"}`)
	bin.sendBinary(envelope("w", vxUpdates, opSub))
	answers := old.readFrame() + old.readFrame()
	require.Contains(t, answers, `{"message":{"asks":[["9.50","1"]],"bids":[],`)
	frames := []string{bin.readFrame(), bin.readFrame()}
	var pushed string
	for _, f := range frames {
		if string(memberOf(t, 3, []byte(f))) == opPush {
			pushed = f
		}
	}
	message := memberOf(t, 4, []byte(pushed))
	require.Equal(t, "VX_VITE", string(memberOf(t, 1, message)))
	require.Equal(t, "9.50", string(memberOf(t, 1, memberOf(t, 5, message))))
}

// TestDepthUpdatesAfterALoss: after lost updates of the index, clients that build a book receive a
// new snapshot, and the numbers show it.
func TestDepthUpdatesAfterALoss(t *testing.T) {
	r := setup(t, Config{})
	r.feed.books["VX_VITE"] = index.Depth{Symbol: "VX_VITE", Asks: levels("9.50", "1")}
	c := r.dial("/v2/ws")
	first := c.follow()
	r.feed.books["VX_VITE"] = index.Depth{Symbol: "VX_VITE", Asks: levels("9.70", "1")}
	close(r.feed.latest().lag)
	code, _ := c.closed()
	require.Equal(t, 1012, code)
	next := r.dial("/v2/ws").follow()
	require.Greater(t, next.Last, first.Last)
	require.Equal(t, [][2]string{{"9.70", "1"}}, next.Asks)
}

// TestManyBooksAtOnce: who subscribes to more books than may wait for him at one time is given them
// one after the other.
func TestManyBooksAtOnce(t *testing.T) {
	r := setup(t, Config{QueueEntries: 8})
	asked := `{"command":"sub","params":["`
	for i := range 40 {
		symbol := "T" + strconv.Itoa(i) + "_VITE"
		r.feed.books[symbol] = index.Depth{Symbol: symbol, Asks: levels("1.0", "1")}
		asked += "market." + symbol + `.depth.updates","`
	}
	c := r.dial("/v2/ws")
	c.sendText(asked[:len(asked)-2] + `]}`)
	seen := map[string]bool{}
	for len(seen) < 40 {
		var push struct{ Data heardUpdate }
		require.NoError(t, json.Unmarshal([]byte(c.readFrame()), &push))
		if push.Data.Snapshot {
			require.False(t, seen[push.Data.Symbol])
			seen[push.Data.Symbol] = true
		}
	}
}

func TestComparePrices(t *testing.T) {
	for _, one := range []struct {
		a, b string
		want int
	}{{"9.50", "10.00", -1}, {"10.00", "9.50", 1}, {"9.50", "9.50", 0}, {"9.49", "9.50", -1}, {"0.0001", "0.0010", -1}, {"1", "12", -1}} {
		require.Equal(t, one.want, comparePrices(one.a, one.b), one)
	}
}
