package console

import (
	"errors"
	"net/http"
	"strconv"

	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/transfers"
)

// maxWhy bounds what is kept of a reason.
const maxWhy = 500

// recordOrder is an order for a record. Why is always required: the history contains it.
type recordOrder struct {
	To           string `json:"to"`
	Why          string `json:"why"`
	BelowMinimum bool   `json:"belowMinimum"`
	NothingMoved bool   `json:"nothingMoved"`
}

func (c *Console) orderRecord(r request) error {
	id, err := strconv.ParseUint(r.Param("id"), 10, 63)
	if err != nil {
		return refusal(http.StatusBadRequest, "id: must be the number of a record")
	}
	var o recordOrder
	if err := readBody(r, &o); err != nil {
		return err
	}
	if err := checkWhy(o.Why); err != nil {
		return err
	}
	if r.Bridge == nil {
		return errNotLeading
	}
	order := transfers.Order{Record: id, To: o.To, Why: o.Why, Small: o.BelowMinimum, NothingMoved: o.NothingMoved}
	err = r.Session.OrderRecord(r.ctx(), r.Bridge, r.Param("order"), order)
	if errors.Is(err, transfers.ErrNoOrder) {
		return refusal(http.StatusNotFound, err.Error())
	}
	if err != nil {
		return err
	}
	return c.record(r.named(strconv.FormatUint(id, 10)))
}

// named is the request for the page of a record.
func (r request) named(name string) request {
	r.SetParamNames("name")
	r.SetParamValues(name)
	return r
}

func checkWhy(why string) error {
	if why == "" || len(why) > maxWhy {
		return refusal(http.StatusBadRequest, "why: a reason of at most "+strconv.Itoa(maxWhy)+" characters is required")
	}
	return nil
}

// channelOrder is the operator's state of a channel. Clear takes the automatic state away too.
type channelOrder struct {
	State string `json:"state"`
	Why   string `json:"why"`
	Clear bool   `json:"clear"`
}

func (c *Console) setChannel(r request) error {
	var o channelOrder
	if err := readBody(r, &o); err != nil {
		return err
	}
	if err := checkWhy(o.Why); err != nil {
		return err
	}
	token, err := operator.FindToken(r.Session.Config, r.Param("network"), r.Param("token"))
	if err != nil {
		return refusal(http.StatusNotFound, err.Error())
	}
	change := operator.ChannelChange{
		Network: r.Param("network"), Token: token, Direction: records.Direction(r.Param("direction")), State: o.State, Why: o.Why, Clear: o.Clear,
	}
	if err := change.Check(); err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	var after records.Channel
	err = r.Session.Store.Update(r.ctx(), func(tx *records.Tx) error {
		after, err = change.Apply(tx)
		return err
	})
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, map[string]string{"state": after.State(), "automatic": after.Automatic, "why": r.Session.Config.InWholeUnits(after.Why)})
}
