package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Page is one kind of request that a server is asked for.
type Page struct {
	Name     string
	Requests int      // at scale 1; more work is more rows, not more requests
	URLs     []string // asked in turn
}

// Answer is the note that tells how a page was answered: sides that answer alike have the same.
func (p Page) Answer() string { return p.Name + " answer" }

// clientsHelper names the helper that asks: the clients' work must not count as the server's.
const clientsHelper = "clients"

// ClientHelpers are the helpers of a case that uses Serve.
func ClientHelpers() map[string]Helper { return map[string]Helper{clientsHelper: askAll} }

// Serve serves h to clients in another process and measures, page by page, the server's CPU for a request: the note of the page's name.
func Serve(ctx context.Context, r *Run, h http.Handler, pages []Page) (total Figure, err error) {
	server := httptest.NewServer(h)
	defer server.Close()
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(r.Dir, "urls"), []byte(strings.Join(p.URLs, "\n")), 0o600); err != nil {
			return Figure{}, fmt.Errorf("writing the clients' list: %w", err)
		}
		n := r.UpTo(p.Requests)
		if _, err := ask(ctx, r, server.URL, max(1, n/10)); err != nil { // warms caches and connections up
			return Figure{}, err
		}
		var answer float64
		page := *r
		page.Side += " " + p.Name // names its profile
		f, err := page.Measure(n, func() error {
			answer, err = ask(ctx, r, server.URL, n)
			return err
		})
		if err != nil {
			return Figure{}, err
		}
		total.Units, total.CPU, total.Wall = total.Units+n, total.CPU+f.CPU, total.Wall+f.Wall
		total.Note(p.Name, float64(f.CPU)/float64(n), "ns")
		total.Note(p.Answer(), answer, "")
	}
	return total, nil
}

// ask has the helper ask n times and answers the check sum of the first answer.
func ask(ctx context.Context, r *Run, url string, n int) (sum float64, err error) {
	p, err := r.Start(ctx, clientsHelper, fmt.Sprint(url, " ", n))
	if err != nil {
		return 0, err
	}
	line, err := p.Line()
	if err == nil {
		_, err = fmt.Sscan(line, &sum)
	}
	return sum, errors.Join(err, p.End())
}

// clientConns is how many clients ask at a time.
const clientConns = 16

// askAll is the clients: argument "SERVER REQUESTS", URLs in the directory.
func askAll(ctx context.Context, r *Run, say func(string)) error {
	var server string
	var n int
	if _, err := fmt.Sscan(r.Argument, &server, &n); err != nil {
		return fmt.Errorf("reading what to ask: %w", err)
	}
	raw, err := os.ReadFile(filepath.Join(r.Dir, "urls"))
	if err != nil {
		return fmt.Errorf("reading the URLs: %w", err)
	}
	urls := strings.Split(string(raw), "\n")
	c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: clientConns}}
	var next, sum atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range clientConns {
		g.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				body, err := Get(ctx, c, server+urls[i%len(urls)])
				if err != nil {
					return err
				}
				if i == 0 {
					sum.Store(int64(crc32.ChecksumIEEE(body)))
				}
			}
			return nil
		})
	}
	err = g.Wait()
	say(fmt.Sprint(sum.Load()))
	return err
}

// Get reads an answer, which must be a success in the envelope that all our answers have.
func Get(ctx context.Context, c *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", url, err)
	}
	response, err := c.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || !bytes.HasPrefix(body, []byte(`{"code":0,`))) {
		err = fmt.Errorf("asking for %s: the answer is %d %.200s", url, response.StatusCode, body)
	}
	return body, err
}
