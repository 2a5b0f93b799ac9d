package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/operator"
	"gatewayd/watcher/recovery"
)

// repairTimeout is the time for which an order waits for the daemon to read the ledger: less than a
// request may take.
const repairTimeout = 4 * time.Second

// repair is an order that repairs a stopped account or a halted chain. Hash is that of the
// transaction that paid, or of the block that the operator has verified.
type repair struct {
	Hash string `json:"hash"`
	Why  string `json:"why"`
}

// toRepair reads an order, and what it is carried out with.
func (r request) toRepair() (o repair, with *recovery.Recovery, err error) {
	if err := readBody(r, &o); err != nil {
		return o, nil, err
	}
	if err := checkWhy(o.Why); err != nil {
		return o, nil, err
	}
	if r.Bridge == nil || r.Guard == nil {
		return o, nil, errNotLeading
	}
	return o, r.Bridge.Recovery(r.Session.Store, r.Guard), nil
}

var errNotLeading = refusal(http.StatusServiceUnavailable, "another process has the lease: give the order there, or by command")

func (c *Console) settle(r request) error {
	id, err := strconv.ParseUint(r.Param("id"), 10, 63)
	if err != nil {
		return refusal(http.StatusBadRequest, "id: must be the number of a record")
	}
	o, with, err := r.toRepair()
	if err != nil {
		return err
	}
	if o.Hash == "" {
		return refusal(http.StatusBadRequest, "hash: must be the hash of our transaction that paid the record")
	}
	if err := r.Session.SettleRecord(r.ctx(), with, id, o.Hash, o.Why); err != nil {
		return err
	}
	return c.record(r.named(strconv.FormatUint(id, 10)))
}

func (c *Console) stopAccount(r request) error {
	var o repair
	if err := readBody(r, &o); err != nil {
		return err
	}
	if err := checkWhy(o.Why); err != nil {
		return err
	}
	id, account, err := r.account()
	if err != nil {
		return err
	}
	if err := r.Session.StopAccount(r.ctx(), id, account, o.Why); err != nil {
		return err
	}
	return c.accounts(r)
}

func (c *Console) resumeAccount(r request) error {
	o, with, err := r.toRepair()
	if err != nil {
		return err
	}
	id, account, err := r.account()
	if err != nil {
		return err
	}
	if err := r.Session.ResumeAccount(r.ctx(), with, id, account, o.Why, repairTimeout); err != nil {
		return err
	}
	return c.accounts(r)
}

// account is one of ours that a path names.
func (r request) account() (chain.ID, string, error) {
	id, err := r.Session.OwnAccount(r.Request().Context(), r.Param("chain"), r.Param("account"))
	if err != nil {
		return "", "", refusal(http.StatusNotFound, operator.PlainError(err).Error())
	}
	return id, r.Param("account"), nil
}

func (c *Console) resumeChain(r request) error {
	o, with, err := r.toRepair()
	if err != nil {
		return err
	}
	id, err := operator.ChainOf(r.Session.Config, r.Param("chain"))
	if err != nil {
		return refusal(http.StatusNotFound, err.Error())
	}
	if o.Hash == "" {
		return refusal(http.StatusBadRequest, "hash: must be the hash of our final block, as another explorer shows it")
	}
	if _, err := r.Session.ResumeVerifiedChain(r.ctx(), with, id, strings.TrimSpace(o.Hash), o.Why); err != nil {
		return err
	}
	return r.JSON(http.StatusOK, map[string]bool{"followed": true})
}
