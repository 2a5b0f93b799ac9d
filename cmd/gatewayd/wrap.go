package main

import (
	"fmt"
	"io"
	"strings"
)

// columns is how wide a screen may be.
const columns = 100

// wrapped prints a text of words in lines that fit the screen; the second and all others begin where the text of the first does.
func wrapped(w io.Writer, text string) {
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
