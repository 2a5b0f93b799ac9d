// Package bench measures what the budgets promise, each figure beside a yardstick of the same run.
//
//	Runner ── round 1 ─▶ process: ours     ─▶ Figure{units, CPU, wall, notes}
//	      │            └▶ process: yardstick ─▶ Figure
//	      ├── round 2 ...                       the other way round
//	      └─▶ Result: median [least..most] of the rounds' ratios against each Goal
//
// Machines differ and are shared, so a budget is a ratio of what two parts of one round cost. Each part is a process of its
// own (the program itself, asked for one part), measures only the section that matters, and reports CPU time per unit with
// wall time beside it. A round during which others used the machine is dropped and done again; when too many are, the
// quietest count and the result says so.
//
// The package owns the runner, the table and what cases share (clients, a local server). It does not know the cases; nothing
// but the cases and the program imports it.
package bench
