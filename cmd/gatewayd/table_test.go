package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTable: numbers and amounts end at the same place, an empty cell is shown, and only a terminal
// cuts and links.
func TestTable(t *testing.T) {
	tx := hashOf("a")
	list := []column{{name: "id", cells: numbers}, {name: "amount", cells: amounts}, {name: "in", cells: hashes, links: map[string]string{tx: "https://example.org/1"}}, {name: "why"}}
	rows := [][]string{{"7", "961 DAI", tx, ""}, {"12", "10000.5 USDT-000", "", "it is a long story"}, {"13", "no connection", "", ""}}
	var out bytes.Buffer
	require.NoError(t, printTable(&out, 0, list, rows))
	require.Equal(t, ""+
		"ID            AMOUNT  IN                                                                  WHY\n"+
		" 7      961 DAI       "+tx+"  -\n"+
		"12  10000.5 USDT-000  -                                                                   it is a long story\n"+
		"13     no connection  -                                                                   -\n", out.String())
	out.Reset()
	require.NoError(t, printTable(&out, 52, list, rows))
	require.Equal(t, ""+
		"ID            AMOUNT  IN                 WHY\n"+
		" 7      961 DAI       \x1b]8;;https://example.org/1\x1b\\0xaaaaaaaa…aaaaaa\x1b]8;;\x1b\\  -\n"+
		"12  10000.5 USDT-000  -                  it is a lo…\n"+
		"13     no connection  -                  -\n", out.String())
}

func TestLasted(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 45*time.Second + 900*time.Millisecond: "45 s", 3*time.Minute + 59*time.Second: "3 min",
		2*time.Hour + 5*time.Minute: "2 h 5 min", 76 * time.Hour: "3 d 4 h", 24_000 * time.Hour: "over 1000 d",
	} {
		require.Equal(t, want, lasted(d), d)
	}
}
