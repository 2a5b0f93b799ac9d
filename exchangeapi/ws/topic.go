package ws

import (
	"strings"

	"gatewayd/exchangeapi/index"
)

// kind is the subject of a topic.
type kind uint8

// The kinds of topics, in the order in which one event's pushes leave (docs/exchange-rest.md 4.4).
const (
	kindOrder   kind = iota // order.<address>
	kindOpen                // market.<symbol>.order.<address>.open: the wallets' list of open orders
	kindHistory             // market.<symbol>.order.<address>.history: the wallets' list of closed orders
	kindAccount             // account.<address>: orders and fills, for who has signed in
	kindTrade
	kindDepthUpdate // market.<symbol>.depth.updates: the book, and then what changes of it
	kindDepth
	kindDepthStep
	kindTicker
	kindKline
	kinds
)

// topicLength is more than the longest topic: a symbol, an address and the words between them.
const topicLength = 160

// maxDepthStep is the coarsest step of the wallets' depth topics.
const maxDepthStep = 8

// topic is the subject of a subscription: its text and its parsed parts.
type topic struct {
	name   string
	kind   kind
	symbol string // of the pair; empty for order.<address> and for tickers of many pairs
	step   int    // kindDepthStep
}

// validInterval reports whether s names a length of candles.
func validInterval(s string) bool {
	switch s {
	case "minute", "minute30", "hour", "hour6", "hour12", "day", "week":
		return true
	}
	return false
}

// validCategory reports whether s names a quote token category. Four are published.
func validCategory(s string) bool {
	switch s {
	case "VITE", "ETH", "USDT", "BTC":
		return true
	}
	return false
}

// parseTopic reads a topic's text; ok is false for what is no published topic and none of the
// wallets. Whether the pair exists is not asked here.
func parseTopic(name string) (t topic, ok bool) {
	if len(name) > topicLength {
		return topic{}, false
	}
	t.name = name
	first, rest, _ := strings.Cut(name, ".")
	switch first {
	case "order":
		t.kind = kindOrder
		return t, index.ValidAddress(rest)
	case "account":
		t.kind = kindAccount
		return t, index.ValidAddress(rest)
	case "market":
		return t.market(rest)
	}
	return topic{}, false
}

// market reads what follows "market.".
func (t topic) market(rest string) (topic, bool) {
	name, what, found := strings.Cut(rest, ".")
	if !found {
		return topic{}, false
	}
	switch name {
	case "quoteToken":
		return t.tickers(what, validToken)
	case "quoteTokenCategory":
		return t.tickers(what, validCategory)
	}
	if !validSymbol(name) {
		return topic{}, false
	}
	t.symbol = name
	return t.pair(what)
}

// tickers reads "<name>.tickers" of the topics for many pairs.
func (t topic) tickers(what string, valid func(string) bool) (topic, bool) {
	name, found := strings.CutSuffix(what, ".tickers")
	t.kind = kindTicker
	return t, found && valid(name)
}

// pair reads what follows "market.<symbol>.".
func (t topic) pair(what string) (topic, bool) {
	word, rest, more := strings.Cut(what, ".")
	switch word {
	case "depth":
		return t.depth(rest, more)
	case "trade":
		t.kind = kindTrade
		return t, !more
	case "tickers":
		t.kind = kindTicker
		return t, !more
	case "kline":
		t.kind = kindKline
		return t, validInterval(rest)
	case "order":
		return t.walletOrders(rest)
	}
	return topic{}, false
}

// depth reads what follows "depth": nothing, the updates, or a step.
func (t topic) depth(rest string, more bool) (topic, bool) {
	if !more {
		t.kind = kindDepth
		return t, true
	}
	if rest == "updates" {
		t.kind = kindDepthUpdate
		return t, true
	}
	digit, found := strings.CutPrefix(rest, "step")
	if !found || len(digit) != 1 || digit[0] < '0' || digit[0] > '0'+maxDepthStep {
		return topic{}, false
	}
	t.kind, t.step = kindDepthStep, int(digit[0]-'0')
	return t, true
}

// walletOrders reads "<address>.open" and "<address>.history".
func (t topic) walletOrders(rest string) (topic, bool) {
	address, list, _ := strings.Cut(rest, ".")
	switch list {
	case "open":
		t.kind = kindOpen
	case "history":
		t.kind = kindHistory
	default:
		return topic{}, false
	}
	return t, index.ValidAddress(address)
}

// validSymbol reports whether s has the form of a pair's symbol: two tokens with an underscore
// between them.
func validSymbol(s string) bool {
	trade, quote, found := strings.Cut(s, "_")
	return found && validToken(trade) && validToken(quote)
}

// validToken reports whether s has the form of a token's symbol: capitals and digits, and for most
// a dash and a number.
func validToken(s string) bool {
	if s == "" || len(s) > 24 {
		return false
	}
	for _, c := range []byte(s) {
		if !(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-') {
			return false
		}
	}
	return true
}

// The names of topics.

func orderTopic(address string) string { return "order." + address }

func openTopic(symbol, address string) string {
	return "market." + symbol + ".order." + address + ".open"
}

func historyTopic(symbol, address string) string {
	return "market." + symbol + ".order." + address + ".history"
}

func tradeTopic(symbol string) string { return "market." + symbol + ".trade" }

func accountTopic(address string) string { return "account." + address }

func updatesTopic(symbol string) string { return "market." + symbol + ".depth.updates" }

func depthTopic(symbol string) string { return "market." + symbol + ".depth" }

func tickerTopic(symbol string) string { return "market." + symbol + ".tickers" }

func quoteTopic(token string) string { return "market.quoteToken." + token + ".tickers" }

func categoryTopic(category string) string {
	return "market.quoteTokenCategory." + category + ".tickers"
}

func klineTopic(symbol, interval string) string { return "market." + symbol + ".kline." + interval }
