package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"gatewayd/chain"
	"gatewayd/operator"
	"gatewayd/records"
)

// readBody reads a request's JSON, of which every member must be known.
func readBody(x echo.Context, into any) error {
	d := json.NewDecoder(x.Request().Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return refusal(http.StatusRequestEntityTooLarge, "the request is too long")
	case err != nil:
		return refusal(http.StatusBadRequest, "the request is not valid JSON for this call: "+err.Error())
	case d.More():
		return refusal(http.StatusBadRequest, "the request must be one JSON object")
	}
	return nil
}

func (c *Console) overview(r request) error {
	o, err := operator.Read(r.Request().Context(), r.Session)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, o)
}

// attention answers everything on which an operator can act.
func (c *Console) attention(r request) error {
	before, err := number(r, "before", 0)
	if err != nil {
		return err
	}
	a, err := r.Session.Attention(r.Request().Context(), before)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, a)
}

// series answers figures of the last hours.
func (c *Console) series(r request) error {
	hours, err := number(r, "hours", 24)
	if err != nil {
		return err
	}
	s, err := r.Session.SeriesOf(r.Request().Context(), time.Duration(min(hours, maxHours))*time.Hour, c.Now())
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, s)
}

// maxHours is more than any length of time that figures are read for.
const maxHours = 1000

func (c *Console) balances(r request) error {
	list, err := operator.Balances(r.Request().Context(), r.Session)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, list)
}

// maxOlder bounds the age that a search asks for, in minutes.
const maxOlder = 1 << 30

// recordPage is a page of records, newest first. Next is the value of `before` for the following
// page, Previous the value of `after` for the one before it; 0 for none.
type recordPage struct {
	Records  []operator.RecordRow `json:"records"`
	Next     uint64               `json:"next"`
	Previous uint64               `json:"previous"`
}

func (c *Console) records(r request) error {
	limit, err := number(r, "limit", operator.DefaultLimit)
	if err != nil {
		return err
	}
	before, err := number(r, "before", 0)
	if err != nil {
		return err
	}
	after, err := number(r, "after", 0)
	if err != nil {
		return err
	}
	older, err := number(r, "older", 0)
	if err != nil {
		return err
	}
	f, err := r.Session.Filter(r.Request().Context(), operator.Query{
		Address: r.QueryParam("address"), Amount: r.QueryParam("amount"), From: r.QueryParam("from"), Until: r.QueryParam("until"),
		Older:        time.Duration(min(older, maxOlder)) * time.Minute,
		Unattributed: r.QueryParam("unattributed") == "true", UnknownTokens: r.QueryParam("unknownTokens") == "true",
		Network: r.QueryParam("network"), Token: r.QueryParam("token"), Direction: r.QueryParam("direction"), State: r.QueryParam("state"),
		Reason: r.QueryParam("reason"), Wallet: r.QueryParam("wallet"), Hash: r.QueryParam("hash"), NeedsOperator: r.QueryParam("needsOperator") == "true",
		Limit: int(min(limit, operator.MaxLimit+1)), Before: before, After: after,
	})
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	list, err := r.Session.Page(r.Request().Context(), f)
	if err != nil {
		return err
	}
	page := recordPage{Records: make([]operator.RecordRow, len(list))}
	for i, record := range list {
		page.Records[i] = operator.RowOf(record)
	}
	if full := len(list) == f.Limit; len(list) > 0 {
		if full || after > 0 {
			page.Next = list[len(list)-1].ID
		}
		if before > 0 || full && after > 0 {
			page.Previous = list[0].ID
		}
	}
	return r.JSON(http.StatusOK, page)
}

func number(r request, name string, otherwise uint64) (uint64, error) {
	text := r.QueryParam(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, refusal(http.StatusBadRequest, name+": must be an integer")
	}
	return n, nil
}

// recordView is a record with the sender's note.
type recordView struct {
	operator.RecordDetail
	Note string `json:"note"`
}

func (c *Console) record(r request) error {
	list, err := r.Session.Details(r.Request().Context(), r.Param("name"))
	if err != nil {
		return refusal(http.StatusNotFound, operator.PlainError(err).Error())
	}
	out := make([]recordView, len(list))
	for i, d := range list {
		for j := range d.History {
			d.History[j].Detail = r.Session.Config.InWholeUnits(d.History[j].Detail)
		}
		out[i] = recordView{d, d.Record.Note()}
	}
	return r.JSON(http.StatusOK, out)
}

func (c *Console) channels(r request) error {
	var list []operator.ChannelRow
	err := r.Session.Store.View(r.Request().Context(), func(tx *records.Tx) (err error) {
		list, err = operator.ChannelRows(tx, r.Session.Config)
		return err
	})
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Why = r.Session.Config.InWholeUnits(list[i].Why)
	}
	return r.JSON(http.StatusOK, list)
}

// account is one that pays, or another that has stopped.
type account struct {
	Network string `json:"network"`
	Chain   string `json:"chain"`
	Kind    string `json:"kind"`
	Address string `json:"address"`
	State   string `json:"state"`
	Why     string `json:"why"`
	Next    uint64 `json:"next"`
}

func (c *Console) accounts(r request) error {
	list := []account{}
	err := r.Session.Store.View(r.Request().Context(), func(tx *records.Tx) error {
		for _, id := range r.Session.Config.ChainIDs() {
			rows, err := tx.Accounts().List(id, records.KindHot, records.KindGas, records.KindGateway)
			if err != nil {
				return err
			}
			for _, a := range rows {
				list = append(list, account{a.Network, string(a.Chain), string(a.Kind), a.Account, string(a.State), a.Why, a.Next})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, list)
}

func (c *Console) nodes(r request) error {
	var running map[chain.ID]chain.Chain
	if r.Bridge != nil {
		running = r.Bridge.Chains
	}
	list, err := operator.Nodes(r.Request().Context(), r.Session, running)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, list)
}

// historyPage is a page of the history, newest first. Next is the value of `before` for the
// following page; 0 for none.
type historyPage struct {
	Lines []operator.AuditLine `json:"lines"`
	Next  uint64               `json:"next"`
}

func (c *Console) history(r request) error {
	before, err := number(r, "before", 0)
	if err != nil {
		return err
	}
	limit, err := number(r, "limit", operator.DefaultLimit)
	if err != nil {
		return err
	}
	record, err := number(r, "record", 0)
	if err != nil {
		return err
	}
	list, err := r.Session.AuditLog(r.Request().Context(), operator.HistoryFilter{
		Before: before, People: r.QueryParam("people") == "true", Actor: r.QueryParam("actor"), Record: record, Limit: int(min(limit, operator.MaxLimit+1)),
	})
	if err != nil {
		return err
	}
	page := historyPage{Lines: list}
	if len(list) == int(limit) {
		page.Next = list[len(list)-1].Seq
	}
	return r.JSON(http.StatusOK, page)
}

// verification is the result of verifying the history. Broken names the fault.
type verification struct {
	operator.HistoryState
	Whole  bool   `json:"whole"`
	Broken string `json:"broken,omitempty"`
}

// verifyHistory reads all of the history: one at a time does.
func (c *Console) verifyHistory(r request) error {
	kept, err := number(r, "seq", 0)
	if err != nil {
		return err
	}
	select {
	case c.verifies <- struct{}{}:
		defer func() { <-c.verifies }()
	default:
		return refusal(http.StatusTooManyRequests, "the history is being verified: try again afterwards")
	}
	s, err := r.Session.VerifyHistory(r.Request().Context(), kept, r.QueryParam("digest"))
	switch {
	case errors.Is(err, records.ErrConflict):
		return r.JSON(http.StatusOK, verification{HistoryState: s, Broken: err.Error()})
	case err != nil:
		return err
	}
	return r.JSON(http.StatusOK, verification{HistoryState: s, Whole: true})
}
