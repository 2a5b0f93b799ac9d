package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// format is a command's output format: a table for people, JSON or CSV for programs.
type format struct{ json, csv bool }

// list prints rows under a header. JSON prints values instead, one array.
func (w streams) list(f format, cols []column, rows [][]string, values any) error {
	switch {
	case f.json:
		return printJSON(w.stdout, values)
	case f.csv:
		return printCSV(w.stdout, cols, rows)
	}
	return printTable(w.stdout, w.width, cols, rows)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func printCSV(w io.Writer, cols []column, rows [][]string) error {
	header := make([]string, len(cols))
	for i, c := range cols {
		header[i] = c.name
	}
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

// terminalWidth returns the columns of a terminal; 0 for a file or a pipe.
func terminalWidth(f *os.File) int {
	if !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return columns
	}
	return width
}

// today returns the current time; golden screens have a fixed one.
func (w streams) today() time.Time {
	if w.now == nil {
		return time.Now()
	}
	return w.now()
}

// stamp is the one form of a time on screens: UTC, as --from and --until accept it. A time that is
// not set is empty.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// shownStamp converts a time of the history, which JSON has with milliseconds.
func shownStamp(text string) string {
	t, err := time.Parse(time.DateTime, text)
	if err != nil {
		return text
	}
	return stamp(t)
}

// lasted is a duration in its largest unit, from hours on in two: "45 s", "3 min", "2 h 5 min".
func lasted(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= 1000*day:
		return "over 1000 d"
	}
	return fmt.Sprintf("%d d %d h", d/day, d%day/time.Hour)
}

// shortHash cuts a hash or an address for a terminal's table.
func shortHash(s string) string {
	if len(s) <= 18 {
		return s
	}
	return s[:10] + "…" + s[len(s)-6:]
}

// hyperlink makes a text of a terminal one that opens a URL (OSC 8).
func hyperlink(url, text string) string {
	if url == "" {
		return text
	}
	return "\x1b]8;;" + url + "\x1b\\" + text + "\x1b]8;;\x1b\\"
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
	printParagraph(w, text[:len(text)-len(strings.TrimLeft(text, " "))], indent, text)
}

// printParagraph prints the words of a text in lines that fit the screen.
func printParagraph(w io.Writer, first, others, text string) {
	line, empty := first, true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+1+len(word) > columns {
			fmt.Fprintln(w, line)
			line, empty = others, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	fmt.Fprintln(w, line)
}
