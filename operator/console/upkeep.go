package console

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/records"
)

// rescanPatience is the time for which a request starts reading further blocks, and readPatience
// how long nodes have to return them.
const (
	rescanPatience = 2 * time.Second
	readPatience   = 5 * time.Second
)

// rescanOrder selects the blocks to read again. To is left out for the newest followed one. Book
// orders the booking of missing transfers.
type rescanOrder struct {
	From uint64  `json:"from"`
	To   *uint64 `json:"to"`
	Book bool    `json:"book"`
	Why  string  `json:"why"`
}

// rescanned contains the differences between blocks and records. Next is the start of the next
// request; 0 when the range is complete.
type rescanned struct {
	From        uint64                   `json:"from"`
	To          uint64                   `json:"to"`
	Next        uint64                   `json:"next"`
	Forgotten   int                      `json:"forgotten"`
	Differences []operator.DifferenceRow `json:"differences"`
}

// rescan reads as much of a range as a request has time for.
func (c *Console) rescan(r request) error {
	var o rescanOrder
	if err := readBody(r, &o); err != nil {
		return err
	}
	if o.Book {
		if err := checkWhy(o.Why); err != nil {
			return err
		}
	}
	if r.Bridge == nil {
		return errNotLeading
	}
	bounds := []string{strconv.FormatUint(o.From, 10)}
	if o.To != nil {
		bounds = append(bounds, strconv.FormatUint(*o.To, 10))
	}
	found, err := r.Session.NewRescan(r.ctx(), r.Param("chain"), bounds...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.ctx(), readPatience)
	defer cancel()
	begun := time.Now()
	if err := found.Read(ctx, r.Bridge, func() bool { return time.Since(begun) < rescanPatience }); err != nil {
		return err
	}
	if o.Book {
		if err := found.Book(r.ctx(), o.Why, repairTimeout); err != nil {
			return err
		}
	}
	answer := rescanned{From: found.From, To: found.To, Next: found.Next, Forgotten: found.Forgotten, Differences: found.Rows()}
	if found.Next > found.To {
		answer.Next = 0
	}
	return r.JSON(http.StatusOK, answer)
}

// configuration is a reading of the configuration by the daemon. State is open for an order that
// the daemon has not carried out yet.
type configuration struct {
	State records.ReloadState `json:"state"`
	At    *time.Time          `json:"at,omitempty"`
	Actor string              `json:"actor"`
	config.Reload
}

// configuration returns the last reading that the daemon has taken; none where no daemon has noted
// one.
func (c *Console) configuration(r request) error {
	last, report, found, err := r.Session.LastReload(r.Request().Context())
	if err != nil {
		return err
	}
	list := []configuration{}
	if found {
		list = append(list, configuration{last.State, &last.ChangedAt, last.Actor, report})
	}
	return r.JSON(http.StatusOK, list)
}

// reload has the daemon read its configuration again, wherever it runs.
func (c *Console) reload(r request) error {
	var o repair
	if err := readBody(r, &o); err != nil {
		return err
	}
	if err := checkWhy(o.Why); err != nil {
		return err
	}
	done, err := r.Session.Reload(r.ctx(), o.Why, repairTimeout)
	if err != nil {
		return err
	}
	answer := configuration{State: done.State, Actor: done.Actor}
	if done.State != records.ReloadOpen {
		answer.At = &done.ChangedAt
		if err := json.Unmarshal([]byte(done.Report), &answer.Reload); err != nil {
			return err
		}
	}
	return r.JSON(http.StatusOK, answer)
}
