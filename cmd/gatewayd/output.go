package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// format is a command's output format: a table for people, JSON or CSV for programs.
type format struct{ json, csv bool }

// table prints rows under a header. JSON prints values instead, one array.
func (f format) table(w io.Writer, header []string, rows [][]string, values any) error {
	switch {
	case f.json:
		return printJSON(w, values)
	case f.csv:
		return printCSV(w, header, rows)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, strings.ToUpper(strings.Join(header, "\t")))
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func printCSV(w io.Writer, header []string, rows [][]string) error {
	c := csv.NewWriter(w)
	if err := c.Write(header); err != nil {
		return err
	}
	if err := c.WriteAll(rows); err != nil {
		return err
	}
	c.Flush()
	return c.Error()
}

// age formats the age of a time, to the second.
func age(now, then time.Time) string { return now.Sub(then).Truncate(time.Second).String() }

// shortHash cuts a hash for a table; --json and show print it completely.
func shortHash(s string) string {
	if len(s) <= 18 {
		return s
	}
	return s[:10] + "…" + s[len(s)-6:]
}

// columns is the maximum width of the output.
const columns = 100

// printWrapped prints a text in lines that fit the screen, with all lines indented as the first
// one's text.
func printWrapped(w io.Writer, text string) {
	indent := strings.Repeat(" ", min(len(text)-len(strings.TrimLeft(text, " ")), columns/2))
	if indent == "" {
		indent = "      "
	}
	line, empty := text[:len(text)-len(strings.TrimLeft(text, " "))], true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+1+len(word) > columns {
			fmt.Fprintln(w, line)
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	fmt.Fprintln(w, line)
}
