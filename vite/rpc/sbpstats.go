package rpc

import (
	"encoding/json"
	"math"
	"time"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// sbpstatsAPI is the module sbpstats.
type sbpstatsAPI struct{ now func() time.Time }

// Kinds of cycles by their numbers: a round of snapshot blocks, an hour, and the day of rewards and
// of the exchange's mining.
const (
	roundCycle = 0
	hourCycle  = 1
	dayCycle   = 2
)

var cycleSeconds = [...]int64{roundCycle: 75, hourCycle: 3600, dayCycle: dex.PeriodTime}

// Refusals of queries of cycles.
var (
	errCycleKind = jsonrpc.Other("index type must be 0, 1 or 2")
	errCycleTime = jsonrpc.Other("time is before the first cycle")
	errCycle     = jsonrpc.Other("cycle is out of range")
)

// dayStart is when a cycle of a day begins, in Unix seconds. All kinds of cycles begin with the
// exchange's first day.
func dayStart(cycle int64) int64 { return dex.FirstPeriod + cycle*cycleSeconds[dayCycle] }

// cycle is a cycle's number, small enough that its times fit.
func (h heightArg) cycle() (int64, error) {
	n, err := h.height()
	if err == nil && n > math.MaxUint32 {
		err = errCycle
	}
	return int64(n), err
}

// timeArg is a time in Unix seconds, or RFC 3339 text.
type timeArg struct{ time.Time }

func (t *timeArg) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, &t.Time)
	}
	var seconds int64
	err := json.Unmarshal(raw, &seconds)
	t.Time = time.Unix(seconds, 0)
	return err
}

// Time2Index is the number of the cycle that a time is in; null is the present.
func (s *sbpstatsAPI) Time2Index(at *timeArg, kind int) (int64, error) {
	if kind < 0 || kind >= len(cycleSeconds) {
		return 0, errCycleKind
	}
	if at == nil {
		at = &timeArg{s.now()}
	}
	passed := at.Unix() - dex.FirstPeriod
	if passed < 0 {
		return 0, errCycleTime
	}
	return passed / cycleSeconds[kind], nil
}

// headTime is the time of the newest snapshot block in Unix seconds.
func (c *contractAPI) headTime() int64 {
	return read(c.node, func(v *node.View) ledger.Point { return v.Head() }).Time.Unix()
}
