package exchangeapi

import (
	"net/netip"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common/lru"
	"golang.org/x/time/rate"
)

// maxClients bounds the memory of a limit; the client not seen for longest is forgotten first.
const maxClients = 100_000

// limit counts what each client takes.
type limit struct {
	now   func() time.Time
	rate  rate.Limit
	burst int

	mu      sync.Mutex
	clients lru.BasicLRU[string, *rate.Limiter]
}

func newLimit(perSecond float64, burst int, now func() time.Time) *limit {
	return &limit{now: now, rate: rate.Limit(perSecond), burst: burst, clients: lru.NewBasicLRU[string, *rate.Limiter](maxClients)}
}

// take counts one and answers how long the client must wait; 0 when it may go on. This machine ("") is not counted.
func (l *limit) take(client string) time.Duration {
	if client == "" {
		return 0
	}
	now := l.now()
	r := l.of(client).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func (l *limit) of(client string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.clients.Get(client)
	if !ok {
		known = rate.NewLimiter(l.rate, l.burst)
		l.clients.Add(client, known)
	}
	return known
}

// clientOf is what an address is counted by: itself, for IPv6 the /64 that one customer has, "" for this machine.
func clientOf(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	addr = addr.Unmap().WithZone("")
	switch {
	case addr.IsLoopback():
		return ""
	case addr.Is6():
		return netip.PrefixFrom(addr, 64).Masked().String()
	}
	return addr.String()
}
