package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const tableHead = "| Mutant | File | What is gone | Turned red | s |\n|---|---|---|---|--:|\n"

// writeTable puts results into the table of a file. Other existing mutants keep their rows, and the
// text before the count stays; a file that is missing gets the table alone.
func writeTable(file string, results []result) error {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before, old := split(string(text))
	rows := parseRows(old)
	for _, r := range results {
		rows[r.mutant.name] = r.row()
	}
	var names []string
	for _, m := range table() {
		names = append(names, m.name)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(before+render(names, rows)), 0o644)
}

// split splits a file at the line of the count, which is two lines above the table's head.
func split(text string) (before, table string) {
	at := strings.Index(text, tableHead)
	if at < 0 {
		return text, ""
	}
	before = strings.TrimRight(text[:at], "\n")
	return before[:strings.LastIndexByte(before, '\n')+1], text[at+len(tableHead):]
}

// parseRows reads a table's rows by the name in their first cell.
func parseRows(table string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); len(cells) > 1 {
			rows[strings.TrimPrefix(cells[0], "| ")] = line
		}
	}
	return rows
}

// render is the count and the table, in the order of the names.
func render(names []string, rows map[string]string) string {
	var b strings.Builder
	count, missing := map[outcome]int{}, 0
	for _, n := range names {
		row, ok := rows[n]
		if !ok {
			missing++
			continue
		}
		count[outcomeOf(row)]++
		b.WriteString(row)
	}
	total := fmt.Sprintf("%d mutants: %d killed, %d hang, %d survive", len(names), count[killed], count[hangs], count[survived])
	if bad := len(names) - missing - count[killed] - count[hangs] - count[survived]; bad > 0 {
		total += fmt.Sprintf(", %d are not as they must be", bad)
	}
	if missing > 0 {
		total += fmt.Sprintf(", %d not run", missing)
	}
	return total + ".\n\n" + tableHead + b.String()
}

// outcomeOf reads the outcome back from a row: a mutant that was killed names the test.
func outcomeOf(row string) outcome {
	cells := strings.Split(row, " | ")
	for _, o := range []outcome{survived, hangs, stale, broken, idle} {
		if len(cells) > 3 && strings.HasPrefix(cells[3], string(o)) {
			return o
		}
	}
	return killed
}

// row is a mutant's line of the table.
func (r result) row() string {
	red := r.red
	if r.outcome != killed {
		red = string(r.outcome)
	}
	if r.mutant.survives != "" {
		red += ": " + r.mutant.survives
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %.0f |\n", r.mutant.name, r.mutant.file, cell(r.mutant.rule), cell(red), r.took.Seconds())
}

// cell keeps a text on its line and in its column.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
