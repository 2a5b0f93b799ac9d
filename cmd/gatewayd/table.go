package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// cells is the kind of a column's cells, which decides their alignment.
type cells int

const (
	texts   cells = iota
	numbers       // right-aligned
	amounts       // the number right-aligned, its unit after it
	hashes        // of transactions, or addresses: cut on a terminal
)

// column is a column of a table.
type column struct {
	name  string
	cells cells
	links map[string]string // URLs by cell, for terminals
}

// printTable prints rows under a header in upper case; columns without names have no header. An
// empty cell is "-". Only a terminal, whose width is above 0, cuts hashes and a last column of
// texts.
func printTable(w io.Writer, width int, list []column, rows [][]string) error {
	shown := shownCells(width, list, rows)
	widths := make([]int, len(list))
	for _, row := range shown {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for r, row := range shown {
		var line strings.Builder
		at := 0
		for i, c := range row {
			if i == len(row)-1 && width > 0 && list[i].cells == texts {
				c = cutText(c, width-at)
			}
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(c)))
			if width > 0 && r > 0 {
				c = hyperlink(list[i].links[rows[r-1][i]], c)
			}
			if list[i].cells == numbers || list[i].cells == amounts {
				c, pad = pad+c, ""
			}
			line.WriteString(c + pad + "  ")
			at += widths[i] + 2
		}
		out := strings.TrimRight(line.String(), " ")
		if out == "" {
			continue // no column has a name
		}
		if _, err := fmt.Fprintln(w, out); err != nil {
			return err
		}
	}
	return nil
}

// shownCells returns the header and the rows as they are shown, before they are padded.
func shownCells(width int, list []column, rows [][]string) [][]string {
	shown := make([][]string, len(rows)+1)
	for r := range shown {
		shown[r] = make([]string, len(list))
	}
	for i, c := range list {
		shown[0][i] = strings.ToUpper(c.name)
		unitWidth := 0
		for _, row := range rows {
			_, unit := splitAmount(row[i])
			unitWidth = max(unitWidth, utf8.RuneCountInString(unit))
		}
		for r, row := range rows {
			cell := row[i]
			switch {
			case cell == "" && c.name != "":
				cell = "-"
			case c.cells == amounts:
				if number, unit := splitAmount(cell); unit != "" {
					cell = number + fmt.Sprintf("%-*s", unitWidth, unit)
				}
			case c.cells == hashes && width > 0:
				cell = shortHash(cell)
			}
			shown[r+1][i] = cell
		}
	}
	return shown
}

// splitAmount returns the number of an amount and its unit after a space. Other texts, such as a
// node's fault, are a number without a unit.
func splitAmount(text string) (number, unit string) {
	at := strings.IndexByte(text, ' ')
	if at < 0 || strings.Trim(text[:at], "0123456789.,") != "" {
		return text, ""
	}
	return text[:at], text[at:]
}

// cutText cuts a text to a width, but not below a readable rest.
func cutText(text string, width int) string {
	const least = 10
	width = max(width, least)
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
