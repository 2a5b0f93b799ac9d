package client

import (
	"encoding/json"
	"fmt"

	"github.com/shopspring/decimal"
)

// The types carry the names of docs/exchange-api.md. Amounts and prices are decimals of tokens, not
// smallest units.

// Side is the direction of an order or of a trade's taker.
type Side int

// The sides.
const (
	Buy  Side = 0
	Sell Side = 1
)

// Status is an order's status.
type Status int

// The statuses.
const (
	Unknown            Status = 0
	PendingRequest     Status = 1
	Received           Status = 2
	Open               Status = 3
	Filled             Status = 4
	PartiallyFilled    Status = 5
	PendingCancel      Status = 6
	Cancelled          Status = 7
	PartiallyCancelled Status = 8
	Failed             Status = 9
	Expired            Status = 10
)

// String is the name that docs/exchange-api.md gives the status.
func (s Status) String() string {
	names := [...]string{
		"Unknown", "Pending Request", "Received", "Open", "Filled", "Partially Filled", "Pending Cancel", "Cancelled", "Partially Cancelled",
		"Failed", "Expired",
	}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("status %d", int(s))
	}
	return names[s]
}

// Final reports whether an order of this status changes no more.
func (s Status) Final() bool {
	switch s {
	case Filled, Cancelled, PartiallyCancelled, Failed, Expired:
		return true
	}
	return false
}

// Pair names a pair and its tokens.
type Pair struct {
	Symbol           string `json:"symbol"`
	TradeTokenSymbol string `json:"tradeTokenSymbol"`
	QuoteTokenSymbol string `json:"quoteTokenSymbol"`
	TradeToken       string `json:"tradeToken"`
	QuoteToken       string `json:"quoteToken"`
}

// Order is an order as REST shows it.
type Order struct {
	Pair
	Address          string          `json:"address"`
	OrderID          string          `json:"orderId"`
	Side             Side            `json:"side"`
	Price            decimal.Decimal `json:"price"`
	Quantity         decimal.Decimal `json:"quantity"`
	Amount           decimal.Decimal `json:"amount"`
	ExecutedQuantity decimal.Decimal `json:"executedQuantity"`
	ExecutedAmount   decimal.Decimal `json:"executedAmount"`
	ExecutedPercent  decimal.Decimal `json:"executedPercent"`
	ExecutedAvgPrice decimal.Decimal `json:"executedAvgPrice"`
	Fee              decimal.Decimal `json:"fee"`
	Status           Status          `json:"status"`
	Type             int             `json:"type"`
	CreateTime       int64           `json:"createTime"` // Unix seconds
	ClientOrderID    string          `json:"clientOrderId"`
}

// Orders is a page of orders. Total is -1 if it was not asked for.
type Orders struct {
	Order []Order `json:"order"`
	Total int     `json:"total"`
}

// Placed is the answer to a new order.
type Placed struct {
	Symbol  string `json:"symbol"`
	OrderID string `json:"orderId"`
	Status  Status `json:"status"`

	ClientOrderID string `json:"clientOrderId"`
}

// Cancellation is the answer to a cancel.
type Cancellation struct {
	Symbol        string `json:"symbol"`
	OrderID       string `json:"orderId"`
	CancelRequest string `json:"cancelRequest"`
	Status        Status `json:"status"`
}

// Limit is the smallest orders and the depths' steps.
type Limit struct {
	MinAmount       map[string]decimal.Decimal `json:"minAmount"`
	DepthStepsLimit map[string]struct {
		Min int `json:"min"`
		Max int `json:"max"`
	} `json:"depthStepsLimit"`
}

// Token is a token of the list.
type Token struct {
	TokenID        string  `json:"tokenId"`
	Name           string  `json:"name"`
	Symbol         string  `json:"symbol"`
	OriginalSymbol string  `json:"originalSymbol"`
	TotalSupply    string  `json:"totalSupply"` // smallest units
	Owner          string  `json:"owner"`
	TokenDecimals  int     `json:"tokenDecimals"`
	URLIcon        *string `json:"urlIcon"`
}

// TokenDetail is all about a token.
type TokenDetail struct {
	TokenID        string              `json:"tokenId"`
	Name           string              `json:"name"`
	Symbol         string              `json:"symbol"`
	OriginalSymbol string              `json:"originalSymbol"`
	TotalSupply    string              `json:"totalSupply"`
	Publisher      string              `json:"publisher"`
	TokenDecimals  int                 `json:"tokenDecimals"`
	TokenAccuracy  decimal.Decimal     `json:"tokenAccuracy"`
	Reissue        int                 `json:"reissue"`
	PublisherDate  *int64              `json:"publisherDate"` // Unix milliseconds
	URLIcon        *string             `json:"urlIcon"`
	Gateway        json.RawMessage     `json:"gateway"`
	Website        *string             `json:"website"`
	Links          map[string][]string `json:"links"`
	Overview       map[string]string   `json:"overview"`
}

// ListedToken is a token that a quote market lists or might list.
type ListedToken struct {
	TokenID string `json:"tokenId"`
	Symbol  string `json:"symbol"`
}

// Market is all about a pair.
type Market struct {
	Symbol              string          `json:"symbol"`
	TradingCurrency     string          `json:"tradingCurrency"`
	QuoteCurrency       string          `json:"quoteCurrency"`
	TradingCurrencyID   string          `json:"tradingCurrencyId"`
	QuoteCurrencyID     string          `json:"quoteCurrencyId"`
	TradingCurrencyName string          `json:"tradingCurrencyName"`
	QuoteCurrencyName   string          `json:"quoteCurrencyName"`
	Operator            string          `json:"operator"`
	OperatorName        string          `json:"operatorName"`
	OperatorLogo        string          `json:"operatorLogo"`
	PricePrecision      int             `json:"pricePrecision"`
	AmountPrecision     int             `json:"amountPrecision"`
	MinOrderSize        decimal.Decimal `json:"minOrderSize"`
	OperatorMakerFee    decimal.Decimal `json:"operatorMakerFee"`
	OperatorTakerFee    decimal.Decimal `json:"operatorTakerFee"`
	HighPrice           decimal.Decimal `json:"highPrice"`
	LowPrice            decimal.Decimal `json:"lowPrice"`
	LastPrice           decimal.Decimal `json:"lastPrice"`
	Volume              decimal.Decimal `json:"volume"`
	BaseVolume          decimal.Decimal `json:"baseVolume"`
	BidPrice            decimal.Decimal `json:"bidPrice"`
	AskPrice            decimal.Decimal `json:"askPrice"`
	OpenBuyOrders       int             `json:"openBuyOrders"`
	OpenSellOrders      int             `json:"openSellOrders"`
}

// MarketItem is a pair of the list.
type MarketItem struct {
	Pair
	PricePrecision    int `json:"pricePrecision"`
	QuantityPrecision int `json:"quantityPrecision"`
}

// Ticker is the figures of a pair over 24 hours.
type Ticker struct {
	MarketItem
	OpenPrice          decimal.Decimal `json:"openPrice"`
	PrevClosePrice     decimal.Decimal `json:"prevClosePrice"`
	ClosePrice         decimal.Decimal `json:"closePrice"`
	PriceChange        decimal.Decimal `json:"priceChange"`
	PriceChangePercent decimal.Decimal `json:"priceChangePercent"`
	HighPrice          decimal.Decimal `json:"highPrice"`
	LowPrice           decimal.Decimal `json:"lowPrice"`
	Quantity           decimal.Decimal `json:"quantity"`
	Amount             decimal.Decimal `json:"amount"`
}

// BookTicker is the best of both sides of a book.
type BookTicker struct {
	Symbol      string          `json:"symbol"`
	BidPrice    decimal.Decimal `json:"bidPrice"`
	BidQuantity decimal.Decimal `json:"bidQuantity"`
	AskPrice    decimal.Decimal `json:"askPrice"`
	AskQuantity decimal.Decimal `json:"askQuantity"`
}

// Trade is a fill of the short list.
type Trade struct {
	Timestamp int64           `json:"timestamp"` // Unix milliseconds
	Price     decimal.Decimal `json:"price"`
	Amount    decimal.Decimal `json:"amount"` // of the trade token
	Side      Side            `json:"side"`
}

// TradeRecord is all about a fill.
type TradeRecord struct {
	Pair
	TradeID     string          `json:"tradeId"`
	Price       decimal.Decimal `json:"price"`
	Quantity    decimal.Decimal `json:"quantity"`
	Amount      decimal.Decimal `json:"amount"`
	Time        int64           `json:"time"` // Unix seconds
	Side        Side            `json:"side"`
	BuyFee      decimal.Decimal `json:"buyFee"`
	SellFee     decimal.Decimal `json:"sellFee"`
	BlockHeight uint64          `json:"blockHeight"`
}

// TradeRecords is a page of fills. Total is -1 if it was not asked for.
type TradeRecords struct {
	Trade []TradeRecord `json:"trade"`
	Total int           `json:"total"`
}

// Depth is a book, asks ascending, bids descending. Timestamp is in Unix milliseconds, and zero in
// pushes.
type Depth struct {
	Timestamp int64   `json:"timestamp"`
	Asks      []Level `json:"asks"`
	Bids      []Level `json:"bids"`
}

// Level is a price of a book with the quantity at this price.
type Level struct{ Price, Quantity decimal.Decimal }

// UnmarshalJSON reads a list of price and quantity.
func (l *Level) UnmarshalJSON(b []byte) error {
	var pair []decimal.Decimal
	if err := json.Unmarshal(b, &pair); err != nil {
		return fmt.Errorf("level: %w", err)
	}
	if len(pair) != 2 {
		return fmt.Errorf("level: %d members, want price and quantity", len(pair))
	}
	l.Price, l.Quantity = pair[0], pair[1]
	return nil
}

// MarshalJSON prints a list of price and quantity.
func (l Level) MarshalJSON() ([]byte, error) {
	return json.Marshal([]decimal.Decimal{l.Price, l.Quantity})
}

// Klines is candles in parallel lists.
type Klines struct {
	T []int64           `json:"t"` // start, Unix seconds
	O []decimal.Decimal `json:"p"` // open
	C []decimal.Decimal `json:"c"`
	H []decimal.Decimal `json:"h"`
	L []decimal.Decimal `json:"l"`
	V []decimal.Decimal `json:"v"`
}

// Transfers is a page of deposits to the exchange (type 1) and withdrawals from it (type 2).
type Transfers struct {
	Record []Transfer `json:"record"`
	Total  int        `json:"total"`
}

// Transfer is a deposit or a withdrawal.
type Transfer struct {
	Time        int64           `json:"time"` // Unix seconds
	TokenSymbol string          `json:"tokenSymbol"`
	Amount      decimal.Decimal `json:"amount"`
	Type        int             `json:"type"`
}

// Rate is the value of a token. A currency without a source is not valid.
type Rate struct {
	TokenID     string              `json:"tokenId"`
	TokenSymbol string              `json:"tokenSymbol"`
	USDRate     decimal.NullDecimal `json:"usdRate"`
	CNYRate     decimal.NullDecimal `json:"cnyRate"`
	Stale       bool                `json:"stale"`      // a price is older than it should be
	UpdateTime  int64               `json:"updateTime"` // of the oldest price, Unix seconds
}

// Balance is an account's balance of a token.
type Balance struct {
	Available decimal.Decimal `json:"available"`
	Locked    decimal.Decimal `json:"locked"`
}

// TradeFeeInfo is the trade mining of the cycle, by quote market: "1" VITE, "2" ETH, "3" BTC, "4"
// USDT.
type TradeFeeInfo struct {
	TradePoolVX  map[string]decimal.Decimal `json:"tradePoolVx"`
	TradePoolFee map[string]decimal.Decimal `json:"tradePoolFee"`
}
