package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/prometheus/procfs"

	"gatewayd/dev/demo"
)

// signerCase measures the cost of a separate signer: each payment is claimed over a socket, and the
// signer follows both chains itself to prove its cause. Wall time has little meaning here: 16
// payouts wait for a block at a time.
func signerCase() Case {
	return Case{
		Name: "signer", Unit: "payment", Ours: payApart,
		About:      "deposits and withdrawals with `gatewayd signer` as a process of its own, which proves each cause on nodes of its own; yardstick: the signer inside the daemon",
		Yardsticks: []Side{{Name: "inside", Part: payInside}},
		Goals:      []Goal{{Of: CPU, Budget: 3 * float64(time.Millisecond), Limit: float64(time.Millisecond), Added: true}},
	}
}

const (
	signerUsers    = 400 // each deposits and withdraws at the same time
	signerPeriod   = 250 * time.Millisecond
	signerPatience = 15 * time.Minute // of a part; a daemon that has ended pays nothing more
)

func payApart(ctx context.Context, r *Run) (Figure, error) {
	return payBy(ctx, r, demo.CustodyOptions{})
}

func payInside(ctx context.Context, r *Run) (Figure, error) {
	return payBy(ctx, r, demo.CustodyOptions{Inside: true})
}

// payBy is pay by the program next to this one.
func payBy(ctx context.Context, r *Run, o demo.CustodyOptions) (f Figure, err error) {
	if o.Program, err = gatewayd(); err != nil {
		return Figure{}, err
	}
	return pay(ctx, r, o)
}

// pay has the chains in this process and measures the others: the daemon's and the signer's.
func pay(ctx context.Context, r *Run, o demo.CustodyOptions) (f Figure, err error) {
	ctx, stop := context.WithTimeout(ctx, signerPatience)
	defer stop()
	o.Source, o.Period = "embedded", signerPeriod
	err = demo.WithCustody(ctx, o, func(ctx context.Context, p *demo.CustodyProcesses) error {
		if err := p.Start(ctx); err != nil {
			return err
		}
		b, err := demo.NewBurst(ctx, p.Info, min(r.N(signerUsers), demo.MaxBurst), demo.NewLog(io.Discard, false))
		if err != nil {
			return err
		}
		defer b.Close()
		if err := b.Prepare(ctx); err != nil {
			return err
		}
		f, err = measureBurst(ctx, b, p.PIDs())
		return err
	})
	return f, err
}

// measureBurst lets all users deposit and withdraw, waits until all payments are final, and counts.
func measureBurst(ctx context.Context, b *demo.Burst, pids []int) (f Figure, err error) {
	before, err := cpuOf(pids)
	if err != nil {
		return Figure{}, err
	}
	start := time.Now()
	w, err := b.Send(ctx)
	if err == nil {
		err = w.Run(ctx, func() {})
	}
	if err != nil {
		return Figure{}, err
	}
	f = Figure{Units: 2 * len(b.Users), Wall: time.Since(start)}
	after, err := cpuOf(pids)
	if err != nil {
		return Figure{}, err
	}
	for i, name := range []string{"daemon", "signer"}[:len(pids)] {
		used := after[i] - before[i]
		f.CPU += used
		f.Note(name, float64(used)/float64(f.Units), "ns")
	}
	f.Note("a second", float64(f.Units)/f.Wall.Seconds(), "")
	return f, b.Count(ctx)
}

// cpuOf is the user and system time that each of the processes has used.
func cpuOf(pids []int) (list []time.Duration, err error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, fmt.Errorf("%w: nothing tells what processes use: %w", ErrSkip, err)
	}
	for _, pid := range pids {
		p, err := fs.Proc(pid)
		var stat procfs.ProcStat
		if err == nil {
			stat, err = p.Stat()
		}
		if err != nil {
			return nil, fmt.Errorf("reading what process %d uses: %w", pid, err)
		}
		list = append(list, time.Duration(stat.CPUTime()*float64(time.Second)))
	}
	return list, nil
}
