package exchange

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/cmd/gatewaybench/exchange/ladder"
	"gatewayd/vite/core"
)

// orderCases are about an order's whole way.
func orderCases() []bench.Case {
	return []bench.Case{{
		Name: "order-rest", Group: bench.Exchange, Unit: "order",
		About: "an order over REST into the book: key, rules, JSON-RPC, chain, match; yardstick: the sum of its parts measured alone",
		Ours:  ordersOverREST,
		Yardsticks: []bench.Yardstick{
			{Name: "HTTP echo", Part: echoOrders}, {Name: "HMAC", Part: authenticateOrders}, {Name: "sign", Part: signOrders}, {Name: "verify", Part: verifyOrders},
			{Name: "match", Part: matchOrders}, {Name: "log append", Part: appendOrders},
		},
		Goals: []bench.Goal{{Of: bench.CPU, Budget: 1.5, Limit: 1.2, Sum: true}},
	}}
}

const (
	restOrders  = 4000
	restClients = 8
	// perAgent is how many orders the quota of a full window pays for, with room to spare.
	perAgent = 2000
)

// ordersOverREST places orders by several clients at a time and waits until the exchange has matched them.
func ordersOverREST(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	n := r.N(restOrders)
	s, err := openAPIEnv(ctx, r.Dir, max(restClients, n/perAgent+1))
	if err != nil {
		return bench.Figure{}, err
	}
	if err := s.enrol(ctx); err != nil {
		return bench.Figure{}, errors.Join(err, s.Close())
	}
	f, err := s.measure(ctx, r, n)
	return f, errors.Join(err, s.Close())
}

func (s *apiEnv) measure(ctx context.Context, r *bench.Run, n int) (bench.Figure, error) {
	for i, c := range s.clients { // the first order of each opens its delegation address
		if err := s.order(ctx, c, n+i); err != nil {
			return bench.Figure{}, err
		}
	}
	if err := s.unfollow(); err != nil { // what the index does is after the book
		return bench.Figure{}, err
	}
	late := make([]latencies, len(s.clients))
	f, err := r.Measure(n, func() error {
		err := share(n, len(s.clients), func(client, i int) error {
			start := time.Now()
			err := s.order(ctx, s.clients[client], i)
			late[client].add(time.Since(start))
			return err
		})
		if err != nil {
			return err
		}
		return s.node.Tick()
	})
	var all latencies
	for i := range late {
		all.merge(&late[i])
	}
	all.note(&f)
	return f, err
}

// share has several workers do n things between them.
func share(n, workers int, do func(worker, i int) error) error {
	var g errgroup.Group
	for w := range workers {
		g.Go(func() error {
			for i := w; i < n; i += workers {
				if err := do(w, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func (l *latencies) merge(of *latencies) {
	l.count += of.count
	for i, n := range of.fine {
		l.fine[i] += n
	}
	l.coarse = append(l.coarse, of.coarse...)
}

// echoOrders posts the same forms to a handler that answers what a placed order is answered with.
func echoOrders(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	e := echo.New()
	type placed struct {
		Symbol  string `json:"symbol"`
		OrderID string `json:"orderId"`
		Status  int    `json:"status"`
	}
	type answer struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
		Data placed `json:"data"`
	}
	e.POST("/order", func(c echo.Context) error {
		return c.JSON(http.StatusOK, answer{Msg: "ok", Data: placed{c.FormValue("symbol"), strings.Repeat("0", 64), 1}})
	})
	server, err := bench.ServeLocal(ctx, e)
	if err != nil {
		return bench.Figure{}, err
	}
	n := r.N(restOrders)
	f, err := r.Measure(n, postForms(ctx, "http://"+server.Addr+"/order", n))
	return f, errors.Join(err, server.Close())
}

func postForms(ctx context.Context, url string, n int) func() error {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: restClients}}
	form := (&apiClient{key: strings.Repeat("A", 32), secret: strings.Repeat("B", 32)}).form(1)
	return func() error {
		defer c.CloseIdleConnections()
		return share(n, restClients, func(_, _ int) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(form))
			if err != nil {
				return fmt.Errorf("making a request: %w", err)
			}
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			reply, err := c.Do(request)
			if err != nil {
				return err
			}
			defer reply.Body.Close()
			_, err = io.Copy(io.Discard, reply.Body)
			return err
		})
	}
}

// authenticateOrders computes both ends of a request's authentication.
func authenticateOrders(_ context.Context, r *bench.Run) (bench.Figure, error) {
	c := apiClient{key: strings.Repeat("A", 32), secret: strings.Repeat("B", 32)}
	form := c.form(1)
	want := authentication(c.secret, form)
	n := r.N(restOrders * 10)
	return r.Measure(n, func() error {
		for range 2 * n { // the client's and the server's
			if authentication(c.secret, form) != want {
				return errors.New("HMAC differs")
			}
		}
		return nil
	})
}

func signOrders(_ context.Context, r *bench.Run) (bench.Figure, error) {
	s, err := NewSigner(0)
	if err != nil {
		return bench.Figure{}, err
	}
	hash := make([]byte, core.HashSize)
	n := r.N(restOrders * 2)
	return r.Measure(n, func() error {
		for range n {
			if len(s.key.Sign(hash)) != core.SignatureSize {
				return errVerify
			}
		}
		return nil
	})
}

func verifyOrders(_ context.Context, r *bench.Run) (bench.Figure, error) {
	s, err := NewSigner(0)
	if err != nil {
		return bench.Figure{}, err
	}
	hash := make([]byte, core.HashSize)
	public, signature := s.key.Public(), s.key.Sign(hash)
	n := r.N(restOrders * 2)
	return r.Measure(n, func() error {
		for range n {
			if !core.Verify(public[:], hash, signature) {
				return errVerify
			}
		}
		return nil
	})
}

// matchOrders matches on a book with real amounts.
func matchOrders(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	s, err := ladder.NW1(r.N(restOrders*25), 42)
	if err != nil {
		return bench.Figure{}, err
	}
	c := clocked{stream: s, rate: 10, open: func(s *ladder.Stream, rate int) (engine, error) { return newExchangeBook(s, rate) }}
	err = c.play(ctx)
	return bench.Figure{Units: c.steps, CPU: c.cpu, Wall: c.wall}, err
}

// appendOrders makes blocks of an order's size durable one after the other.
func appendOrders(_ context.Context, r *bench.Run) (bench.Figure, error) {
	file, err := os.Create(filepath.Join(r.Dir, "log"))
	if err != nil {
		return bench.Figure{}, fmt.Errorf("making a file: %w", err)
	}
	defer file.Close()
	block := make([]byte, 600)
	rand.Read(block) // never fails
	n := r.N(restOrders)
	return r.Measure(n, func() error {
		for range n {
			if _, err := file.Write(block); err != nil {
				return fmt.Errorf("writing: %w", err)
			}
			if err := syncData(file); err != nil {
				return err
			}
		}
		return nil
	})
}
